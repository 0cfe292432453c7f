// The writer releases so often that it wears out several of the detector's slot numbers, and only then hands over what it wrote
// with its first. The second thread hands it on to a third. Whoever learns of the last number must know all of the first ones.
// Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { WORDS = 4, RELEASES = 20000 }; // an epoch for each release, and a slot number has some 16,000
long word[WORDS];
atomic_long busy, first, second;

static void wait_for(atomic_long *flag) {
    while (!atomic_load_explicit(flag, memory_order_acquire)) sched_yield();
}

static void check_all(void) {
    for (int i = 0; i < WORDS; i++)
        if (word[i] != i + 1) abort();
}

void *writer(void *arg) {
    for (int i = 0; i < WORDS; i++) {
        word[i] = i + 1; // each with another slot number
        for (long n = 0; n < RELEASES; n++) atomic_store_explicit(&busy, n, memory_order_release);
    }
    atomic_store_explicit(&first, 1, memory_order_release);
    return arg;
}

void *relay(void *arg) {
    wait_for(&first);
    check_all();
    atomic_fetch_add_explicit(&second, 1, memory_order_release);
    return arg;
}

int main(void) {
    for (int i = 0; i < WORDS; i++) word[i] = 0;
    pthread_t t[2];
    pthread_create(&t[0], 0, writer, 0);
    pthread_create(&t[1], 0, relay, 0);
    wait_for(&second);
    check_all();
    word[0] = 7;
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    return 0;
}
