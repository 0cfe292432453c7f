// A thread that leaves by pthread_exit still runs its thread-specific destructors after its function has returned. Here the
// destructor writes what main reads before it joins. Every mode reports, with a stack that ends in the destructor.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int ended;
pthread_key_t key;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void destructor(void *value) {
    ended = *(int *)value;                              // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
}

void *work(void *arg) {
    pthread_setspecific(key, arg);
    pthread_exit(0);
}

int main(void) {
    int one = 1;
    ended = 0;
    pthread_key_create(&key, destructor);
    pthread_t t;
    pthread_create(&t, 0, work, &one);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    int seen = ended;                                   // expect: data-race read #1
    pthread_join(t, 0);
    return seen != 1;
}
