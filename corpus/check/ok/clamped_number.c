// A number that was clamped is within its bounds; a minimum is no more than either.
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
    int n = opt();
    if (n < 1) n = 1;
    if (n > 64) n = 64;
    if (n > 1) pthread_mutex_lock(&m);
    if (n == 8) g++;
    if (n > 1) pthread_mutex_unlock(&m);
    int a = opt(), b = opt(), low = a < b ? a : b;
    if (a > 4) pthread_mutex_lock(&m);
    if (low > 5) g++;
    if (a > 4) pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
