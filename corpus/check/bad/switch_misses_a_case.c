// The switch locks for 1 only, and 2 writes.
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
    int k = opt();
    switch (k) {
    case 1: pthread_mutex_lock(&m);
    }
    if (k == 2) g++; // expect: data-race #1
    if (k == 1) pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
