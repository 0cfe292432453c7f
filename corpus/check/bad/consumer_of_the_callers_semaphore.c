// A consumer waits for a semaphore that the caller has made, and never posts it. The count of what
// it took has no lock on the other side.
#include <pthread.h>
#include <semaphore.h>

struct queue {
    sem_t *filled;
    int taken;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *consume(void *arg) {
    struct queue *q = arg;
    for (;;) {
        sem_wait(q->filled);
        pthread_mutex_lock(&lock);
        q->taken++; // expect: data-race #1
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int start(struct queue *q) {
    pthread_t t;
    if (pthread_create(&t, 0, consume, q))
        return -1;
    q->taken = 0; // expect: data-race #1
    return 0;
}
