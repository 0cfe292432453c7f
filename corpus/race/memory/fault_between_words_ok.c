// A fault between the reads of two words that lie side by side; its handler jumps away, so the second read never happens and
// does not race with the other thread, which writes that word. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

struct words { long a, b; } shared;
static sigjmp_buf back;
long sum, *nowhere;

static void jump(int signal) { siglongjmp(back, signal); }

__attribute__((noinline)) long all(struct words *p, long *q) {
    long n = p->a;
    n += *q;
    n += p->b;
    return n;
}

void *first(void *arg) {
    for (volatile int i = 0; i < 200; i++)
        if (!sigsetjmp(back, 1)) sum += all(&shared, nowhere);
    return arg;
}

void *second(void *arg) {
    for (int i = 0; i < 200; i++) shared.b = i;
    return arg;
}

int main(void) {
    struct sigaction action = {.sa_handler = jump};
    sigaction(SIGSEGV, &action, 0);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return sum != 0;
}
