// expect: assertion
//@ bound: 1
// The same with a lost update.
// Fails when: both threads read the counter before one of them writes it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static atomic_int *counter;

static void *counts(void *arg) {
    atomic_store(counter, atomic_load(counter) + 1);
    return arg;
}

int main(void) {
    counter = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_t a, b;
    pthread_create(&a, 0, counts, 0);
    pthread_create(&b, 0, counts, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(counter) == 2);                  // expect: assertion here
    return 0;
}
