// A spin lock made of atomic_flag, and one of the __sync builtins.
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag flag = ATOMIC_FLAG_INIT;
static volatile int word;
static int a_count, b_count;

static void *worker(void *arg) {
    for (int i = 0; i < 4; i++) {
        while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire))
            ;
        a_count++;
        atomic_flag_clear_explicit(&flag, memory_order_release);
        while (__sync_lock_test_and_set(&word, 1))
            ;
        b_count++;
        __sync_lock_release(&word);
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
