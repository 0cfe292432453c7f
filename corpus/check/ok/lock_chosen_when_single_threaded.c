// A pool takes its lock unless a flag says that there is one thread. No code sets the flag, and an
// unknown function that gets the pool does not either.
#include <library.h>
#include <pthread.h>
#include <stdlib.h>

struct pool {
    int single_threaded;
    int count;
    pthread_mutex_t mutex;
};

static void lock(struct pool *p) {
    if (!p->single_threaded)
        pthread_mutex_lock(&p->mutex);
}

static void unlock(struct pool *p) {
    if (!p->single_threaded)
        pthread_mutex_unlock(&p->mutex);
}

static void *work(void *arg) {
    struct pool *p = arg;
    library_report(p);
    lock(p);
    p->count++;
    unlock(p);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct pool *p = calloc(1, sizeof *p);
    pthread_mutex_init(&p->mutex, NULL);
    pthread_create(&thread, NULL, work, p);
    lock(p);
    p->count++;
    unlock(p);
    pthread_join(thread, NULL);
    return 0;
}
