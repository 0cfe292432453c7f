// Each of two threads takes its own lock twice: two mistakes, two findings.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *arg) {
    pthread_mutex_lock(&a); // expect: double-lock #1
    pthread_mutex_lock(&a); // expect: double-lock #1
    return arg;
}

static void *second(void *arg) {
    pthread_mutex_lock(&b); // expect: double-lock #2
    pthread_mutex_lock(&b); // expect: double-lock #2
    return arg;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, NULL, first, NULL);
    pthread_create(&u, NULL, second, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}
