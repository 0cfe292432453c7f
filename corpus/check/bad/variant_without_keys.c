// Without the header that a build writes, a choice is open. The variant without thread-local
// variables shares one counter, and it may be the one that is built.
#include "config.h"
#include <pthread.h>

#ifdef CONFIG_LIB_TLS
static __thread int counter;
#else
static int counter;
#endif

static void *work(void *data) {
    counter++; // expect: data-race #1
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    counter++; // expect: data-race #1
    pthread_join(t, 0);
    return 0;
}
