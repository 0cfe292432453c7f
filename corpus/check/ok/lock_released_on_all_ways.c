// Every way out goes through one label.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int used;

static int reserve(int wanted) {
    int result = -1;
    pthread_mutex_lock(&lock);
    if (wanted > 100)
        goto out;
    if (used + wanted > 1000)
        goto out;
    used += wanted;
    result = 0;
out:
    pthread_mutex_unlock(&lock);
    return result;
}

static void *worker(void *arg) {
    for (int i = 0; i < 3; i++)
        reserve(rand());
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
