// expect: assertion
//@ always
//@ libs: -lm
// Rounding is set once for all threads, which it can not be: it is each thread's own.
// Fails when: the thread that comes second has never set it.
#include <assert.h>
#include <fenv.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_up(void) { fesetround(FE_UPWARD); }

static void *work(void *arg)
{
    pthread_once(&once, set_up);
    assert(fegetround() == FE_UPWARD);                  // expect: assertion here
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
