// A missing header has the type of the member. The same value is found there twice, whatever the
// type makes of its fraction.
#include <pthread.h>
#include "platform.h"

struct clock {
    platform_seconds now;
};

static struct clock clock_of_all;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ticks;

static void *work(void *data) {
    pthread_mutex_lock(&m);
    ticks++;
    pthread_mutex_unlock(&m);
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    clock_of_all.now = 3.5;
    int is_late = clock_of_all.now > 3;
    if (is_late)
        pthread_mutex_lock(&m);
    if (clock_of_all.now > 3)
        ticks++;
    if (is_late)
        pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
