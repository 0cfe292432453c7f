// expect: nothing
// The port of section 2 of the paper, where worker and canceller compete for the set as a whole.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { TASKS = 2, QUEUED = 0, RUN, CANCELLED };
atomic_int task[TASKS];
atomic_flag claimed = ATOMIC_FLAG_INIT;

static void take(int i, int what) {
    int queued = QUEUED;
    atomic_compare_exchange_strong(&task[i], &queued, what);
}

void *worker(void *arg) {
    if (atomic_load(&task[0]) != QUEUED) return arg; // registers only for a whole set
    if (atomic_flag_test_and_set(&claimed)) return arg;
    for (int i = 0; i < TASKS; i++) take(i, RUN);
    return arg;
}

void *canceller(void *arg) {
    if (atomic_flag_test_and_set(&claimed)) return arg;
    for (int i = 0; i < TASKS; i++) take(i, CANCELLED);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, canceller, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int first = atomic_load(&task[0]), second = atomic_load(&task[1]);
    assert(!(first == CANCELLED && second == RUN));
    return 0;
}
