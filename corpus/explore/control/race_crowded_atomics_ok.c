// expect: nothing
//@ monitors: race
// More atomic objects than the search has room for, and then memory is freed, so that there is room again. What was released at
// the flags in between must not be forgotten: it orders the accesses to the values.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MANY = 420, FLAGS = 2 };
atomic_long *many;
atomic_long flags[2 * FLAGS];
long values[FLAGS];

void *writer(void *arg) {
    for (int i = 0; i < MANY; i++) atomic_store_explicit(&many[2 * i], 1, memory_order_relaxed);
    for (int i = 0; i < FLAGS; i++) {
        values[i] = 1;
        atomic_store_explicit(&flags[2 * i], 1, memory_order_release);
    }
    free(many);
    return arg;
}

void *reader(void *arg) {
    for (int i = 0; i < FLAGS; i++)
        if (atomic_load_explicit(&flags[2 * i], memory_order_acquire)) arg = (char *)arg + values[i];
    return arg;
}

int main(void) {
    many = calloc(2 * MANY, sizeof *many);
    pthread_t r, w;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
