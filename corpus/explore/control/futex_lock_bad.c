// expect: deadlock
//@ bound: 1
// A lock made of a futex whose waiter does not leave a mark (2) behind: the owner sees nobody to wake.
// Fails when: the owner is preempted inside; the other sleeps with the word at 1; the owner unlocks and wakes nobody.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

atomic_int word, counter;

static void lock(void) {
    int seen = 0;
    while (!atomic_compare_exchange_strong(&word, &seen, 1)) {
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0); // expect: deadlock here
        seen = 0;
    }
}

static void unlock(void) {
    if (atomic_exchange(&word, 0) == 2) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void *worker(void *arg) {
    lock();
    atomic_fetch_add(&counter, 1);
    unlock();
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);                                 // expect: deadlock here
    return 0;
}
