// What is above 5 is above 3: the write is always under the lock. The same for sums and unsigned numbers.
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int g;
extern int opt(void);
extern unsigned size(void);

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    g++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    int i = opt();
    if (i > 3) pthread_mutex_lock(&m);
    if (i > 5) g++;
    if (i > 3) pthread_mutex_unlock(&m);
    int n = opt(), last = n - 1;
    if (n > 0) pthread_mutex_lock(&m);
    if (last >= 0) g++;
    if (n > 0) pthread_mutex_unlock(&m);
    unsigned s = size();
    if (s >= 8) pthread_mutex_lock(&m);
    if (s >> 3) g++;
    if (s > 7) pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
