// expect: nothing
// A timerfd, one-shot and periodic, read by one thread and disarmed by another.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

int one_shot, periodic;

void *reads(void *arg) {
    uint64_t expirations = 0, sum = 0;
    assert(read(one_shot, &expirations, sizeof expirations) == sizeof expirations && expirations == 1);
    while (sum < 3) {
        assert(read(periodic, &expirations, sizeof expirations) == sizeof expirations && expirations >= 1);
        sum += expirations;
    }
    return arg;
}

int main(void) {
    one_shot = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    periodic = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec once = {.it_value.tv_nsec = 2000000};
    struct itimerspec often = {.it_value.tv_nsec = 2000000, .it_interval.tv_nsec = 2000000}, none = {0}, left;
    assert(timerfd_settime(one_shot, 0, &once, 0) == 0);
    assert(timerfd_settime(periodic, 0, &often, 0) == 0);
    pthread_t t;
    pthread_create(&t, 0, reads, 0);
    pthread_join(t, 0);
    assert(timerfd_settime(periodic, 0, &none, 0) == 0);
    assert(timerfd_gettime(periodic, &left) == 0 && left.it_value.tv_nsec == 0 && left.it_value.tv_sec == 0);
    close(one_shot);
    close(periodic);
    return 0;
}
