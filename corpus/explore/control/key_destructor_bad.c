// expect: assertion
//@ bound: 1
// A destructor of thread-specific data counts without a lock: its steps are interleaved with those of another thread's.
// Fails when: both destructors read the count before either writes it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

pthread_key_t key;
atomic_int ended;

static void count(void *unused) {
    (void)unused;
    int before = atomic_load(&ended);
    atomic_store(&ended, before + 1);
}

void *worker(void *arg) {
    pthread_setspecific(key, &key);
    return arg;
}

int main(void) {
    pthread_key_create(&key, count);
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&ended) == 2);                   // expect: assertion here
    return 0;
}
