// Order and equality of two unknowns carry over to a third condition.
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
    int a = opt(), b = opt();
    if (a > b) pthread_mutex_lock(&m);
    if (a - b > 1) g++;
    if (b < a) pthread_mutex_unlock(&m);
    int x = opt(), y = opt();
    if (x == y && x > 3) pthread_mutex_lock(&m);
    if (x == y && y > 5) g++;
    if (x == y && y > 3) pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
