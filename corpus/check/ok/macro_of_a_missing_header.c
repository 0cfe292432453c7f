// Atomic operations of headers that are not there: macros on variables, functions on addresses.
#include <pthread.h>
#include "portable_atomics.h"

static unsigned used, ready;
static int slot, ready_too, slot_too;

static void *worker(void *arg) {
    ATOMIC_ADD(used, 1);
    slot = 1;
    ATOMIC_STORE(ready, 1);
    slot_too = 1;
    g_atomic_int_set(&ready_too, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    int total = ATOMIC_LOAD(used);
    if (ATOMIC_LOAD(ready))
        total += slot;
    if (g_atomic_int_get(&ready_too))
        total += slot_too;
    LOG_NUMBER(used);
    pthread_join(t, NULL);
    return total;
}
