// A release sequence goes on through another thread's read-modify-write, even a relaxed one (C11 5.1.2.4): the reader that
// acquires the value 2 synchronises with the release store of 1. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long data;
atomic_int flag;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *head(void *arg) {
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *middle(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    return arg;
}

void *reader(void *arg) {
    while (atomic_load_explicit(&step, memory_order_relaxed) != 2) usleep(100);
    if (atomic_load_explicit(&flag, memory_order_acquire) != 2) return 0; // one look only: it must not see the 1
    return (char *)arg + data;
}

int main(void) {
    data = 0;
    pthread_t a, b, c;
    pthread_create(&a, 0, head, 0);
    pthread_create(&b, 0, middle, 0);
    pthread_create(&c, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
