// expect: nothing
// A harness that survives `abort` and failed assertions: its handler jumps out.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Thread_local sigjmp_buf before;
static atomic_int turns, survived;

static void jump(int signal) { siglongjmp(before, signal); }

static void *test(void *arg) {
    if (sigsetjmp(before, 1) != 0) {
        atomic_fetch_add(&survived, 1);
        return arg;
    }
    if (atomic_fetch_add(&turns, 1) == 0) abort();
    assert(!"reached");
    return arg;
}

int main(void) {
    signal(SIGABRT, jump);
    pthread_t a, b;
    pthread_create(&a, 0, test, 0);
    pthread_create(&b, 0, test, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return atomic_load(&survived) != 2;
}
