// A mutex that is used after it was destroyed, in the order of one thread; and one that another thread takes while nothing
// says that it was made before. In hybrid and fast mode locks order nothing, and a use is no access.
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t destroyed, timed, made;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *work(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_lock(&made);                          // expect(hb): data-race atomic-read #2
    pthread_mutex_unlock(&made);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_init(&made, 0);                       // expect(hb): data-race write #2
    pthread_mutex_lock(&made);
    pthread_mutex_unlock(&made);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    pthread_join(t, 0);
    pthread_mutex_init(&destroyed, 0);
    pthread_mutex_destroy(&destroyed);
    pthread_mutex_lock(&destroyed);                     // expect: use-after-free #1
    pthread_mutex_init(&timed, 0);
    pthread_mutex_destroy(&timed);
    struct timespec past = {0};
    pthread_mutex_timedlock(&timed, &past);             // expect: use-after-free #3
    return 0;
}
