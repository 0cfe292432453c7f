// expect: assertion
//@ bound: 1
// A lost update beside a random number of scheduling points: the failure must replay although the points before it vary.
// Fails when: both load the counter before either stores it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>

atomic_int counter, noise;

void *worker(void *arg) {
    unsigned char byte;
    assert(getrandom(&byte, 1, 0) == 1);
    for (int i = byte % 4; i > 0; i--) atomic_fetch_add(&noise, 1);
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen + 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&counter) == 2);                 // expect: assertion here
    return 0;
}
