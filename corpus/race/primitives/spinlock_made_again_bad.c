// A spinlock that is made again while nothing keeps another thread from using it. In hybrid and fast
// mode locks order nothing, and a use is no access. `spinlock_made_again_ok.c` is the twin.
// expect(hybrid fast): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

pthread_spinlock_t lock;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *work(void *arg) {
    pthread_spin_lock(&lock);                           // expect(hb): data-race atomic-read #1
    pthread_spin_unlock(&lock);                         // expect(hb): data-race atomic-read #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);  // expect(hb): data-race write #1
    pthread_join(t, 0);
    return 0;
}
