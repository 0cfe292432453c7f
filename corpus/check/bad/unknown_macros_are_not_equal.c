// Two names that a missing header would define: the variant for all other machines has a race. So
// has one that is there when a name is zero, which an unknown one is.
#include <pthread.h>
#include <stdatomic.h>
#include "machine.h"

#if MACHINE == MACHINE_WITH_ATOMICS
static atomic_int count;
#define COUNT() atomic_fetch_add(&count, 1)
#else
static int count;
#define COUNT() count++
#endif

#if LEVEL == 0
static int level;
#else
static atomic_int level;
#endif

static void *work(void *data) {
    COUNT(); // expect: data-race #1
    level = 1; // expect: data-race #2
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    COUNT(); // expect: data-race #1
    level = 2; // expect: data-race #2
    pthread_join(t, 0);
    return 0;
}
