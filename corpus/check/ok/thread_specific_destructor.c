// The destructor works on what is the thread's own.
#include <pthread.h>
#include <stdlib.h>

struct state { int used; };
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void destroy(void *p) {
    struct state *s = p;
    pthread_mutex_lock(&lock);
    total += s->used;
    pthread_mutex_unlock(&lock);
    free(s);
}

static void make_key(void) { pthread_key_create(&key, destroy); }

static void *worker(void *arg) {
    pthread_once(&once, make_key);
    struct state *s = pthread_getspecific(key);
    if (!s) {
        s = calloc(1, sizeof *s);
        pthread_setspecific(key, s);
    }
    s->used++;
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
