// expect: nothing
// A thread that spins and counts is at work: it may give up when it has counted enough.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static long spins;

static void *spinner(void *arg) {
    long n = 0;
    while (!atomic_load(&ready)) n++;
    spins = n;
    return arg;
}

static void *setter(void *arg) {
    atomic_store(&ready, 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, spinner, 0);
    pthread_create(&b, 0, setter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return spins < 0;
}
