// A lock of an atomic word; the system call only sleeps and wakes.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word;
static int n;

static void *worker(void *arg) {
    int expected = 0;
    if (!atomic_compare_exchange_strong(&word, &expected, 1))
        while (atomic_exchange(&word, 2) != 0) syscall(SYS_futex, &word, FUTEX_WAIT, 2, 0, 0, 0);
    n++;
    if (atomic_exchange(&word, 0) == 2) syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    worker(NULL);
    pthread_join(t, NULL);
    return n;
}
