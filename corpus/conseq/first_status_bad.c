// expect: exit-status
// The exit status and a message say that the threads came in the wrong order, which nothing keeps.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int opened, early;

void *opener(void *arg) {
    pthread_mutex_lock(&m);
    opened = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

void *user(void *arg) {
    pthread_mutex_lock(&m);
    early = !opened;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, opener, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (early)
        fprintf(stderr, "FAILED: used before it was opened\n");
    return early;
}
