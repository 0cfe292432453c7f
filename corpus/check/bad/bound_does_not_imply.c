// What is above 3 need not be above 5.
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
    int i = opt();
    if (i > 5) pthread_mutex_lock(&m);
    if (i > 3) g++; // expect: data-race #1
    if (i > 5) pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
