// What a third thread moves from pipe to pipe, what is read and written by `syscall`, and what a
// timer's descriptor tells, come after what was done before.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int from[2], to[2], direct[2], timer;
int moved, called, timed;

static void *tell(void *arg) {
    struct itimerspec soon = {.it_value = {0, 1000000}};
    moved = 1;
    write(from[1], "a", 1);
    called = 1;
    syscall(SYS_write, direct[1], "a", 1);
    timed = 1;
    timerfd_settime(timer, 0, &soon, 0);
    return arg;
}

static void *move(void *arg) {
    splice(from[0], 0, to[1], 0, 1, 0);
    return arg;
}

static void *hear(void *arg) {
    char c;
    uint64_t times;
    read(to[0], &c, 1);
    moved = 2;
    syscall(SYS_read, direct[0], &c, 1);
    called = 2;
    read(timer, &times, sizeof times);
    timed = 2;
    return arg;
}

int main(void) {
    pthread_t threads[3];
    pipe(from), pipe(to), pipe(direct);
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    pthread_create(&threads[0], 0, hear, 0);
    pthread_create(&threads[1], 0, move, 0);
    pthread_create(&threads[2], 0, tell, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
