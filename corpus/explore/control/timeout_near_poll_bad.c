// expect: assertion
//@ bound: 0
// A byte that another thread writes into a pipe soon, and the end of that thread, waited for, for a second at most.
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

int ends[2];

void *writer(void *arg) {
    return write(ends[1], "x", 1) == 1 ? arg : 0;
}

int main(void) {
    pthread_t t;
    struct timespec until;
    if (pipe(ends)) return 2;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_create(&t, 0, writer, 0);
    struct pollfd in = {ends[0], POLLIN, 0};
    int ready = poll(&in, 1, 1000);
    assert(ready == 1);                                 // expect: assertion here
    int joined = pthread_timedjoin_np(t, 0, &until);
    assert(joined == 0);                                // expect: assertion here
    return 0;
}
