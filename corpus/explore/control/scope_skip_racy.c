// expect: nothing
//@ options: --skip update
// As scope_skip.c, and a race in another place makes the search look at every access of one random execution first. That one
// preempts in `update` too, where no preemption is allowed, and its failure is not to be reported.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { TIMES = 4 };

atomic_int counter;
int last_seen;

__attribute__((noinline)) void update(void) {
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen + 1);
}

void *worker(void *arg) {
    for (int i = 0; i < TIMES; i++) {
        update();
        last_seen = i;
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&counter) == 2 * TIMES);
    return 0;
}
