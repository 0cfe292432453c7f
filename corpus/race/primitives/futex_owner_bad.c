// A futex that has an owner: who does not get it because another thread has it is not ordered with that one.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static int word;
static long counter;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void reached(int n) { atomic_store_explicit(&step, n, memory_order_relaxed); }
static void until(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100);
}

static void *work(void *arg) {
    syscall(SYS_futex, &word, FUTEX_LOCK_PI_PRIVATE, 0, 0, 0, 0);
    counter++;                                          // expect: data-race #1
    reached(1);
    until(2);
    syscall(SYS_futex, &word, FUTEX_UNLOCK_PI_PRIVATE, 0, 0, 0, 0);
    return arg;
}

// Two threads touch the variables before the race: `fast` forgets what one alone has touched.
static void *touches(void *arg) {
    counter = 0;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_t first;
    if (pthread_create(&first, 0, touches, 0) || pthread_join(first, 0)) return 1;
    counter = 0;
    pthread_create(&t, 0, work, 0);
    until(1);
    syscall(SYS_futex, &word, FUTEX_TRYLOCK_PI_PRIVATE, 0, 0, 0, 0);
    counter++;                                          // expect: data-race #1
    reached(2);
    pthread_join(t, 0);
    return 0;
}
