// Counted atomically, read plainly.
#include <pthread.h>
#include <stdatomic.h>

static int counter;

static void *worker(void *arg) {
    __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST); // expect: data-race atomic-write #1
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    int c = counter; // expect: data-race read #1
    pthread_join(t, NULL);
    return c;
}
