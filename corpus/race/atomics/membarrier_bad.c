// A barrier in all threads orders what the others did before it, not what they do afterwards; and to ask which barriers
// there are is none.
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static int late, asked;
atomic_int own;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void reached(int n) { atomic_store_explicit(&step, n, memory_order_relaxed); }
static void until(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100);
}

static void *work(void *arg) {
    asked++;                                            // expect: data-race #1
    reached(1);
    until(2);
    atomic_store_explicit(&own, 1, memory_order_release); // what follows is later than the barrier
    late++;                                             // expect: data-race #2
    reached(3);
    return arg;
}

// Two threads touch the variables before the race: `fast` forgets what one alone has touched.
static void *touches(void *arg) {
    late = asked = 0;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_t first;
    if (pthread_create(&first, 0, touches, 0) || pthread_join(first, 0)) return 1;
    late = asked = 0;
    pthread_create(&t, 0, work, 0);
    until(1);
    syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    asked++;                                            // expect: data-race #1
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
    reached(2);
    until(3);
    late++;                                             // expect: data-race #2
    pthread_join(t, 0);
    return 0;
}
