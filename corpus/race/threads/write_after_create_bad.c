// Only what comes before pthread_create is ordered: main changes the argument afterwards. The loop variable's address
// given to a thread is the classic case. Every mode reports: main is the first to touch it, the thread the second.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *work(void *arg) {
    int *index = arg;
    int mine = *index;                                  // expect: data-race read #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return (void *)(long)mine;
}

int main(void) {
    volatile int index = 0;
    pthread_t t;
    pthread_create(&t, 0, work, (void *)&index);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    index = 1;                                          // expect: data-race write #1
    pthread_join(t, 0);
    return 0;
}
