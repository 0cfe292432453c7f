// expect: nothing
//@ options: --skip update
// A lost update in a function where no preemption is allowed: it is not found, since the search was told to leave it out.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int counter, noise;

__attribute__((noinline)) void update(void) {
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen + 1);
}

__attribute__((noinline)) void chatter(void) {
    for (int i = 0; i < 20; i++) atomic_fetch_add(&noise, 1);
}

void *worker(void *arg) {
    chatter();
    update();
    chatter();
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&counter) == 2);
    return 0;
}
