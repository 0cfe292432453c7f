// The barrier of one thread in all threads of the process: the others need no fence of their own.
// expect(hb hybrid fast): nothing
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static int freed, published;
static atomic_int is_done, is_there;

/* Has no fence where it leaves, as a reader of a list that another thread takes apart. */
static void *leaves(void *arg) {
    freed = 1;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&is_done, 1, memory_order_relaxed);
    return arg;
}

/* Has no fence where it looks. */
static void *looks(void *arg) {
    while (!atomic_load_explicit(&is_there, memory_order_relaxed)) usleep(10);
    atomic_signal_fence(memory_order_seq_cst);
    published++;
    return arg;
}

int main(void) {
    pthread_t t[2];
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) return 0;
    pthread_create(&t[0], 0, leaves, 0);
    pthread_create(&t[1], 0, looks, 0);
    while (!atomic_load_explicit(&is_done, memory_order_relaxed)) usleep(10);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    freed = 2;
    published = 1;
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    atomic_store_explicit(&is_there, 1, memory_order_relaxed);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
