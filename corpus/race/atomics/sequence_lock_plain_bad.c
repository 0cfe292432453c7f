// The common sequence lock whose data is plain: the reader may read while the writer writes, and throws the value away. Still a
// data race by the language, in every mode; the run has the reader come after an unfinished write.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_uint sequence;
long data;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *writer(void *arg) {
    atomic_store_explicit(&sequence, 1, memory_order_release);
    data = 42;                                          // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) < 2) usleep(100);
    atomic_store_explicit(&sequence, 2, memory_order_release);
    return arg;
}

void *reader(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
    long seen = data;                                   // expect: data-race read #1
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    return (char *)arg + (before % 2 ? 0 : seen);
}

int main(void) {
    data = 0;
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
