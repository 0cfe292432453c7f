// A semaphore that the caller has made guards one member. The other one is changed after it.
#include <pthread.h>
#include <semaphore.h>

struct shared {
    int n;
    sem_t *lock;
    int m;
};

static void *run(void *arg) {
    struct shared *s = arg;
    sem_wait(s->lock);
    s->n++;
    sem_post(s->lock);
    s->m++; // expect: data-race #1
    return 0;
}

int start(struct shared *s) {
    pthread_t t;
    if (pthread_create(&t, 0, run, s))
        return -1;
    s->m++; // expect: data-race #1
    sem_wait(s->lock);
    s->n++;
    sem_post(s->lock);
    return pthread_join(t, 0);
}
