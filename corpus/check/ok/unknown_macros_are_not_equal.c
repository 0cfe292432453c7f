// Two names that a missing header would define are not equal for being both unknown: the variant
// for that machine is not the one that is built.
#include <pthread.h>
#include <stdatomic.h>
#include "machine.h"

#if (MACHINE == MACHINE_OF_ONE_THREAD)
static int count;
#define COUNT() count++
#else
static atomic_int count;
#define COUNT() atomic_fetch_add(&count, 1)
#endif

static void *work(void *data) {
    COUNT();
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    COUNT();
    pthread_join(t, 0);
    return 0;
}
