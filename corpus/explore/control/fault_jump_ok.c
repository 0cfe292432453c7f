// expect: nothing
// Two threads divide by zero, and each recovers by a jump out of the handler, with the mask that it had before.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

static _Thread_local sigjmp_buf before;
static atomic_int recovered;
static volatile int zero;

static void jump(int signal) { siglongjmp(before, signal); }

static void *divides(void *arg) {
    for (int i = 0; i < 2; i++) {
        if (sigsetjmp(before, 1) == 0) {
            volatile int quotient = 5 / zero;
            (void)quotient;
        } else {
            atomic_fetch_add(&recovered, 1);
        }
    }
    return arg;
}

int main(void) {
    signal(SIGFPE, jump);
    pthread_t a, b;
    pthread_create(&a, 0, divides, 0);
    pthread_create(&b, 0, divides, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&recovered) == 4);
    return 0;
}
