// A lock, a condition variable, a semaphore and a barrier that one thread uses while nothing keeps another from freeing
// them. In hybrid and fast mode locks order nothing, and a use is no access.
// expect(hybrid fast): nothing
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

pthread_mutex_t *mutex;
pthread_rwlock_t *rwlock;
pthread_cond_t *condition;
sem_t *semaphore;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *work(void *arg) {
    pthread_mutex_lock(mutex);                          // expect(hb): data-race atomic-read #1
    pthread_mutex_unlock(mutex);                        // expect(hb): data-race atomic-read #1
    pthread_rwlock_rdlock(rwlock);                      // expect(hb): data-race atomic-read #2
    pthread_rwlock_unlock(rwlock);                      // expect(hb): data-race atomic-read #2
    pthread_cond_signal(condition);                     // expect(hb): data-race atomic-read #3
    sem_post(semaphore);                                // expect(hb): data-race atomic-read #4
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_mutex_init(mutex = malloc(sizeof *mutex), 0);
    pthread_rwlock_init(rwlock = malloc(sizeof *rwlock), 0);
    pthread_cond_init(condition = malloc(sizeof *condition), 0);
    sem_init(semaphore = malloc(sizeof *semaphore), 0, 0);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pthread_mutex_destroy(mutex);                       // expect(hb): data-race write #1
    free(rwlock);                                       // expect(hb): data-race free #2
    pthread_cond_destroy(condition);                    // expect(hb): data-race write #3
    free(semaphore);                                    // expect(hb): data-race free #4
    pthread_join(t, 0);
    return 0;
}
