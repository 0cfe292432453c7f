// expect: nothing
// A counter in shared memory that was mapped before the first thread: each schedule begins with zero.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static atomic_int *counter;

static void *counts(void *arg) {
    atomic_fetch_add(counter, 1);
    return arg;
}

int main(void) {
    counter = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_t a, b;
    pthread_create(&a, 0, counts, 0);
    pthread_create(&b, 0, counts, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(counter) == 2);
    return 0;
}
