// expect: nothing
// A spin loop with sched_yield: fair scheduling lets it end.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int ready;

void *spinner(void *arg) {
    while (!atomic_load(&ready)) sched_yield();
    return arg;
}

void *setter(void *arg) {
    atomic_store(&ready, 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, spinner, 0);
    pthread_create(&b, 0, setter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
