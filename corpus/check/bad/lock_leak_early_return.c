// One way out does not release the lock.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int used;

static void *reserve(void *arg) {
    int wanted = rand();
    pthread_mutex_lock(&lock); // expect: lock-leak #1
    if (wanted > 100)
        return NULL;
    used += wanted;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, reserve, NULL);
    pthread_create(&b, NULL, reserve, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
