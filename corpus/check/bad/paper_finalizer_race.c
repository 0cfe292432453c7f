// Table 3, Finalizer Race: a thread-specific destructor runs when a thread ends, while others still run.
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static int live;

static void destroy(void *value) {
    live--; // expect: data-race write #1, data-race read #1
    free(value);
}

static void *worker(void *arg) {
    pthread_setspecific(key, malloc(16));
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_key_create(&key, destroy);
    live = 1;
    pthread_create(&t, NULL, worker, NULL);
    int seen = live; // expect: data-race read #1
    pthread_join(t, NULL);
    return seen;
}
