// A missing header has the type of the member. If that is a floating-point type, the fraction stays.
#include <pthread.h>
#include "platform.h"

struct clock {
    platform_seconds now;
};

static struct clock clock_of_all;
static int ticks;

static void *work(void *data) {
    ticks++; // expect: data-race #1
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    clock_of_all.now = 3.5;
    clock_of_all.now += 1;
    if (clock_of_all.now > 4)
        ticks++; // expect: data-race #1
    pthread_join(t, 0);
    return ticks;
}
