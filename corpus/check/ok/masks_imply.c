// A bit of a mask implies the mask; an odd number has a remainder.
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int g;
extern int opt(void);

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    g++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    int f = opt();
    if (f & 6) pthread_mutex_lock(&m);
    if (f & 2) g++;
    if ((f & 6) != 0) pthread_mutex_unlock(&m);
    int a = opt();
    if (a % 2) pthread_mutex_lock(&m);
    if (a == 7) g++;
    if (a % 2 != 0) pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
