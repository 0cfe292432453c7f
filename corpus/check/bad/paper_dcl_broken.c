// Table 3, DCL Broken: double-checked locking whose first check is an ordinary read.
#include <pthread.h>
#include <stdlib.h>

struct singleton { int value; };
static struct singleton *instance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct singleton *get(void) {
    if (instance == NULL) { // expect: data-race read #1
        pthread_mutex_lock(&lock);
        if (instance == NULL) {
            struct singleton *s = malloc(sizeof *s);
            s->value = 42; // expect: data-race write #2
            instance = s; // expect: data-race write #1
        }
        pthread_mutex_unlock(&lock);
    }
    return instance; // expect: data-race read #1
}

static void *user(void *arg) {
    return (void *)(long)get()->value; // expect: data-race read #2
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
