// A lock of the program's own on a futex that has an owner: the kernel writes the word when somebody waits.
// expect: nothing
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int word;
static long counter;

static void lock(void) {
    int none = 0, me = (int)syscall(SYS_gettid);
    if (!__atomic_compare_exchange_n(&word, &none, me, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
        && syscall(SYS_futex, &word, FUTEX_LOCK_PI_PRIVATE, 0, 0, 0, 0) != 0)
        abort();
}

static void unlock(void) {
    int me = (int)syscall(SYS_gettid);
    if (!__atomic_compare_exchange_n(&word, &me, 0, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
        && syscall(SYS_futex, &word, FUTEX_UNLOCK_PI_PRIVATE, 0, 0, 0, 0) != 0)
        abort();
}

static void *work(void *arg) {
    for (int i = 0; i < 100; i++) {
        lock();
        counter++;
        if (i % 16 == 0) usleep(50);
        unlock();
    }
    return arg;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return counter != 300;
}
