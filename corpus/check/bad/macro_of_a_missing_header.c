// The macros are atomic, whatever they do; the plain accesses beside them are not.
#include <pthread.h>
#include "portable_atomics.h"

static unsigned used;
static int last;

static void *worker(void *arg) {
    ATOMIC_ADD(used, 1);
    last = 1; // expect: data-race write #1
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    last = 2; // expect: data-race write #1
    int total = ATOMIC_LOAD(used);
    pthread_join(t, NULL);
    return total + last;
}
