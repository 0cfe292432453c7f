// A semaphore that the caller has made serves as a lock. Its count is 1, which nobody here knows.
#include <pthread.h>
#include <semaphore.h>

struct shared {
    int n;
    sem_t *lock;
    sem_t own;
    int m;
};

static void *run(void *arg) {
    struct shared *s = arg;
    sem_wait(s->lock);
    s->n++;
    sem_post(s->lock);
    sem_wait(&s->own);
    s->m++;
    sem_post(&s->own);
    return 0;
}

int start(struct shared *s) {
    pthread_t t;
    if (pthread_create(&t, 0, run, s))
        return -1;
    sem_wait(s->lock);
    s->n++;
    sem_post(s->lock);
    sem_wait(&s->own);
    s->m++;
    sem_post(&s->own);
    return pthread_join(t, 0);
}
