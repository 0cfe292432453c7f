// expect: deadlock
//@ options: --sleep-is-not-yield
// A timerfd is disarmed while a thread is still to read it.
// Fails when: main disarms it before the reader has read: the read never returns.
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

int fd;

void *reads(void *arg) {
    uint64_t expirations;
    if (read(fd, &expirations, sizeof expirations) < 0) return 0; // expect: deadlock here
    return arg;
}

int main(void) {
    fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec when = {.it_value.tv_nsec = 2000000}, none = {0};
    timerfd_settime(fd, 0, &when, 0);
    pthread_t t;
    pthread_create(&t, 0, reads, 0);
    usleep(20000); // it has rung by now, usually
    timerfd_settime(fd, 0, &none, 0);
    pthread_join(t, 0);                                 // expect: deadlock here
    return 0;
}
