// One member of a record is guarded, the other is not.
#include <pthread.h>

struct stats { long hits; long misses; pthread_mutex_t lock; };
static struct stats stats = { 0, 0, PTHREAD_MUTEX_INITIALIZER };

static void *worker(void *arg) {
    struct stats *s = &stats;
    pthread_mutex_lock(&s->lock);
    s->hits++;
    pthread_mutex_unlock(&s->lock);
    s->misses++; // expect: data-race write #1, data-race read #1
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
