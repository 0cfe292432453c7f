// Variable arguments are read one by one; the sum is guarded.
#include <pthread.h>
#include <stdarg.h>

static long total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add_all(int n, ...) {
    va_list args;
    va_start(args, n);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++)
        total += va_arg(args, int);
    pthread_mutex_unlock(&lock);
    va_end(args);
}

static void *worker(void *arg) {
    add_all(3, 1, 2, 3);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
