// Neither variant has what guards the counter.
#include "my_config.h"
#include <pthread.h>

#ifdef CONFIG_COUNT_LARGE
static unsigned long count;
#else
static unsigned count;
#endif

static void *work(void *data) {
    count++; // expect: data-race #1
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    count++; // expect: data-race #1
    pthread_join(t, 0);
    return 0;
}
