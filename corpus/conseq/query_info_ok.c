// expect: nothing
// The twin of query_info_bad.c: one lock around both looks.
#include <pthread.h>
#include <stdio.h>

const char *volatile query = "SELECT 1";
int shown;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *show(void *arg) {
    pthread_mutex_lock(&lock);
    if (query) {
        shown++;
        if (!query)
            fprintf(stderr, "error: connection without a query\n");
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

void *done(void *arg) {
    pthread_mutex_lock(&lock);
    query = 0;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, show, 0);
    pthread_create(&b, 0, done, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
