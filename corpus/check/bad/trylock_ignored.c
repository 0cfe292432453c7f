// The result of trylock is not looked at.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void *careful(void *arg) {
    pthread_mutex_lock(&lock);
    value = 1; // expect: data-race write #1
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *careless(void *arg) {
    int got = pthread_mutex_trylock(&lock);
    value = 2; // expect: data-race write #1
    if (got == 0)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, careful, NULL);
    pthread_create(&b, NULL, careless, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
