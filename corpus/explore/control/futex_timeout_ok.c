// expect: nothing
// FUTEX_WAIT with a timeout returns 0, EAGAIN (the word had changed) or ETIMEDOUT; FUTEX_WAIT_BITSET takes an absolute time.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

atomic_int word;

void *setter(void *arg) {
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return arg;
}

static void check(long status) {
    assert(status == 0 || errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR);
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, setter, 0);
    struct timespec span = {.tv_nsec = 20000000}, until;
    check(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &span, NULL, 0));
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    check(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL, FUTEX_BITSET_MATCH_ANY));
    pthread_join(t, 0);
    assert(atomic_load(&word) == 1);
    return 0;
}
