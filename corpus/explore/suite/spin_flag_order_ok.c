// expect: nothing
// The flag is raised after the data it stands for; the reader spins, and yields while it does.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int ready, data;

void *writer(void *arg) {
    atomic_store(&data, 42);
    atomic_store(&ready, 1);
    return arg;
}

void *reader(void *arg) {
    while (!atomic_load(&ready)) sched_yield();
    assert(atomic_load(&data) == 42);
    return arg;
}

int main(void) {
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
