// expect: nothing
//@ libs: -lm
// How numbers are rounded is each thread's own affair; a new thread takes it from its creator.
#include <assert.h>
#include <fenv.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int rounds;

static void *upwards(void *arg)
{
    fesetround(FE_UPWARD);
    pthread_mutex_lock(&mutex);
    rounds++;
    pthread_mutex_unlock(&mutex);
    assert(fegetround() == FE_UPWARD);
    return arg;
}

static void *as_created(void *arg)
{
    assert(fegetround() == FE_DOWNWARD);
    pthread_mutex_lock(&mutex);
    rounds++;
    pthread_mutex_unlock(&mutex);
    assert(fegetround() == FE_DOWNWARD);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, upwards, 0);
    fesetround(FE_DOWNWARD);
    pthread_create(&b, 0, as_created, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(fegetround() == FE_DOWNWARD);
    return rounds - 2;
}
