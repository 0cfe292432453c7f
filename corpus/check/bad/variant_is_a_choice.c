// Without the header that a build writes, a choice is one that nobody has made.
#include "config.h"
#include <pthread.h>

#ifdef USE_LOCKFREE
#include <stdatomic.h>
static atomic_int count;
#define COUNT() atomic_fetch_add(&count, 1)
#else
static int count;
#define COUNT() count++
#endif

static void *work(void *data) {
    COUNT(); // expect: data-race #1
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    COUNT(); // expect: data-race #1
    pthread_join(t, 0);
    return 0;
}
