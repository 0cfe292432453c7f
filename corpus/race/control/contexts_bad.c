// A race between a coroutine of one thread and a plain function of another. A context is not a thread: the access belongs to
// the thread that runs it. Every mode reports, with the coroutine's own frames.
#include <pthread.h>
#include <stdatomic.h>
#include <ucontext.h>
#include <unistd.h>

long shared;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
static ucontext_t outside, inside;
static char stack[65536];

static void coroutine(void) {
    shared = 1;                                         // expect: data-race write #1
    swapcontext(&inside, &outside);
}

void *first(void *arg) {
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
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
