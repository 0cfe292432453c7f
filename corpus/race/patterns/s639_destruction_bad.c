// 6.3.9 in C: a function hands a pointer to its local to another thread and cleans the local up before it returns.
// Every mode reports; the memory is the stack of the thread that owns the local.
//@ golden
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct job { volatile int state; };
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
pthread_t helper;

void *callback(void *arg) {
    struct job *job = arg;
    job->state = 2;                                     // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return 0;
}

void *owner(void *arg) {
    struct job job;
    job.state = 1;
    pthread_create(&helper, 0, callback, &job);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    job.state = -1;                                     // expect: data-race write #1
    return arg;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, owner, 0);
    pthread_join(a, 0);
    pthread_join(helper, 0);
    return 0;
}
