// 8 is within the bounds, but does not lock.
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int g;
extern int opt(void);

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    g++; // expect: data-race #1
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    int n = opt();
    if (n < 1) n = 1;
    if (n > 64) n = 64;
    if (n > 8) pthread_mutex_lock(&m);
    if (n == 8) g++; // expect: data-race #1
    if (n > 8) pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
