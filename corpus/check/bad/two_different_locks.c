// Both hold a lock, but not the same one.
#include <pthread.h>

static int shared;
static pthread_mutex_t a_lock = PTHREAD_MUTEX_INITIALIZER, b_lock = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *arg) {
    pthread_mutex_lock(&a_lock);
    shared = 1; // expect: data-race write #1
    pthread_mutex_unlock(&a_lock);
    return NULL;
}

static void *second(void *arg) {
    pthread_mutex_lock(&b_lock);
    shared = 2; // expect: data-race write #1
    pthread_mutex_unlock(&b_lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
