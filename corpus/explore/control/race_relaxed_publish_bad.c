// expect: data-race
//@ monitors: race
//@ bound: 0
// A relaxed flag orders nothing: under sequential consistency the value is always there, and it is a race all the same.
// Fails when: the reader sees the flag.
#include <pthread.h>
#include <stdatomic.h>

atomic_int opened;
int value;

void *writer(void *arg) {
    value = 1;                                                                           // expect: data-race here
    atomic_store_explicit(&opened, 1, memory_order_relaxed);
    return arg;
}

void *reader(void *arg) {
    if (atomic_load_explicit(&opened, memory_order_relaxed)) arg = (char *)arg + value;  // expect: data-race here
    return arg;
}

int main(void) {
    pthread_t r, w;
    pthread_create(&r, 0, reader, 0);
    pthread_create(&w, 0, writer, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
