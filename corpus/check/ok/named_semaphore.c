// A semaphore with a name that starts at one is a lock.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t *lock;
static int counter;

static void *worker(void *arg) {
    sem_wait(lock);
    counter++;
    sem_post(lock);
    return NULL;
}

int main(void) {
    pthread_t t;
    lock = sem_open("/lock", O_CREAT | O_EXCL, 0600, 1);
    if (lock == SEM_FAILED)
        return 1;
    pthread_create(&t, NULL, worker, NULL);
    worker(NULL);
    pthread_join(t, NULL);
    return counter;
}
