// expect: assertion
//@ bound: 2
// The port of section 2 of the paper: a worker registers for a set of two tasks and then receives them, while another cancels all
// of them, one by one, without saying that a cancellation is in progress.
// Fails when: the worker has registered and is preempted; the canceller is preempted after the first task; the worker goes on and
// runs the second, although the set was being cancelled. (A cancellation that comes too late for the first task is fine.)
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { TASKS = 2, QUEUED = 0, RUN, CANCELLED };
atomic_int task[TASKS];

static void take(int i, int what) {
    int queued = QUEUED;
    atomic_compare_exchange_strong(&task[i], &queued, what);
}

void *worker(void *arg) {
    if (atomic_load(&task[0]) != QUEUED) return arg; // registers only for a whole set
    for (int i = 0; i < TASKS; i++) take(i, RUN);
    return arg;
}

void *canceller(void *arg) {
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
    assert(!(first == CANCELLED && second == RUN));     // expect: assertion here
    return 0;
}
