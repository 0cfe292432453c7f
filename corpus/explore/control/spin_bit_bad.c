// expect: livelock
//@ always
// A lock bit that its owner never gives back: the other one looks for ever.
// Fails when: always.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int word;

static void *locks(void *arg) {
    int now = 0;
    while (!atomic_compare_exchange_strong(&word, &now, 1)) now = 0;    // expect: livelock here
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, locks, 0);
    pthread_create(&b, 0, locks, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
