// Without the header that a build writes, the variant with thread-local variables is the one that is
// checked.
#include "my_config.h"
#include <pthread.h>

#ifdef HAVE_COUNT_TLS
static __thread unsigned count;
#else
static unsigned count;
#endif

static void *work(void *data) {
    count++;
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    count++;
    pthread_join(t, 0);
    return 0;
}
