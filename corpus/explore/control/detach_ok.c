// expect: nothing
// Detached threads, by attribute and by call, that say through a semaphore when they are through.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

sem_t through;
atomic_int ran;

void *worker(void *arg) {
    atomic_fetch_add(&ran, 1);
    sem_post(&through);
    return arg;
}

int main(void) {
    sem_init(&through, 0, 0);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_t a, b;
    assert(pthread_create(&a, &attr, worker, 0) == 0);
    assert(pthread_create(&b, 0, worker, 0) == 0);
    assert(pthread_detach(b) == 0);
    sem_wait(&through);
    sem_wait(&through);
    assert(atomic_load(&ran) == 2);
    return 0;
}
