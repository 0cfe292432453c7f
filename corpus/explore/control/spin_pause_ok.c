// expect: nothing
// A spin loop with the pause instruction counts as one that yields.
#include <pthread.h>
#include <stdatomic.h>

atomic_int ready;

void *spinner(void *arg) {
    while (!atomic_load(&ready)) __builtin_ia32_pause();
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
