// A lock by atomics and futex(2) through syscall(): the acquire and release operations are the arcs, in every mode; the system
// call only sleeps and wakes. To the detector it is no lock, so hybrid sees arcs where it would see a lockset.
// expect: nothing
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

atomic_int word; // 0 free, 1 held, 2 held and waited for
long count;

static void lock(void) {
    int expected = 0;
    if (atomic_compare_exchange_strong_explicit(&word, &expected, 1, memory_order_acquire, memory_order_relaxed)) return;
    while (atomic_exchange_explicit(&word, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}

static void unlock(void) {
    if (atomic_exchange_explicit(&word, 0, memory_order_release) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

void *work(void *arg) {
    for (int i = 0; i < 2000; i++) {
        lock();
        count++;
        unlock();
    }
    return arg;
}

int main(void) {
    count = 0;
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return count != 6000;
}
