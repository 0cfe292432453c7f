// The bit is set for more than 3, and 3 writes.
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int g;
extern int opt(void);
struct flags { unsigned bit : 1; };

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    g++; // expect: data-race #1
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    struct flags f;
    int i = opt();
    f.bit = i > 3;
    if (f.bit) pthread_mutex_lock(&m);
    if (i > 2) g++; // expect: data-race #1
    if (f.bit) pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
