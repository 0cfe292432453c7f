// An eventfd whose count is not full: who adds to it does not wait for those who read.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int count;
static long data;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *reads(void *arg) {
    uint64_t n = 1;
    if (write(count, &n, sizeof n) != sizeof n) abort();
    data++;                                             // expect: data-race #1
    if (read(count, &n, sizeof n) != sizeof n) abort();
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

// Two threads touch the variables before the race: `fast` forgets what one alone has touched.
static void *touches(void *arg) {
    data = 0;
    return arg;
}

int main(void) {
    uint64_t n = 1;
    pthread_t t;
    pthread_t first;
    if (pthread_create(&first, 0, touches, 0) || pthread_join(first, 0)) return 1;
    data = 0;
    count = eventfd(0, 0);
    pthread_create(&t, 0, reads, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    if (write(count, &n, sizeof n) != sizeof n) abort();
    data++;                                             // expect: data-race #1
    pthread_join(t, 0);
    return 0;
}
