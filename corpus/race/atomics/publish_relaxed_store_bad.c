// Publication with a relaxed store and an acquire load: the acquire has no release to synchronise with. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long data;
atomic_int flag;

void *publisher(void *arg) {
    data = 42;                                          // expect: data-race write #1
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return arg;
}

void *reader(void *arg) {
    while (!atomic_load_explicit(&flag, memory_order_acquire)) usleep(100);
    return (char *)arg + data;                          // expect: data-race read #1
}

int main(void) {
    data = 0;
    pthread_t a, b;
    pthread_create(&a, 0, publisher, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
