// The condition is checked in a loop under the lock.
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready_cond = PTHREAD_COND_INITIALIZER;
static bool ready;
static int data;

static void *waiter(void *arg) {
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&ready_cond, &lock);
    pthread_mutex_unlock(&lock);
    return (void *)(long)data;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, NULL, waiter, NULL);
    pthread_create(&u, NULL, waiter, NULL);
    data = 7;
    pthread_mutex_lock(&lock);
    ready = true;
    pthread_cond_broadcast(&ready_cond);
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}
