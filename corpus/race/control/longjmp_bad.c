// A race after many longjmps: the stack in the report is that of the access, without the frames that were jumped over. Every
// mode reports.
//@ golden
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <unistd.h>

long shared;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

__attribute__((noinline)) static void skipped(jmp_buf back, int n) {
    if (n == 0) longjmp(back, 1);
    if (n > 0) skipped(back, n - 1);
}

static void jump_about(void) {
    for (volatile int i = 0; i < 100; i++) {
        jmp_buf back;
        if (setjmp(back) == 0) skipped(back, 20);
    }
}

void *first(void *arg) {
    jump_about();
    shared = 1;                                         // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    jump_about();
    shared = 2;                                         // expect: data-race write #1
    return arg;
}

int main(void) {
    shared = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
