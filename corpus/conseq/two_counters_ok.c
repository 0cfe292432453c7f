// expect: nothing
// Two counters, one atomic, one under a mutex: nothing says that they agree at any moment.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int started;
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
    for (int i = 0; i < 3; i++) {
        started++;
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("%d %d\n", started, count);
    return 0;
}
