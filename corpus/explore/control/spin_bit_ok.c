// expect: nothing
// A lock bit in a pointer, as std::atomic<std::shared_ptr> has it: who finds it set looks again, without a pause.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static int values[2] = {1, 2};
static _Atomic uintptr_t word;

static uintptr_t lock(void) {
    uintptr_t now = atomic_load(&word);
    for (;;) {
        while (now & 1) now = atomic_load(&word);
        if (atomic_compare_exchange_strong(&word, &now, now | 1)) return now;
    }
}

static void *stores(void *arg) {
    lock();
    atomic_store(&word, (uintptr_t)&values[1]);
    return arg;
}

static void *loads(void *arg) {
    uintptr_t at = lock();
    int value = *(int *)at;
    atomic_store(&word, at);
    assert(value == 1 || value == 2);
    return arg;
}

int main(void) {
    atomic_store(&word, (uintptr_t)&values[0]);
    pthread_t a, b;
    pthread_create(&a, 0, stores, 0);
    pthread_create(&b, 0, loads, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
