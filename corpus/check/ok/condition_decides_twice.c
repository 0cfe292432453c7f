// Whether there is a lock at all depends on input, but both times in the same way.
#include <pthread.h>
#include <stdlib.h>

static int value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int threads;

static void *worker(void *arg) {
    if (threads > 1)
        pthread_mutex_lock(&lock);
    value++;
    if (threads > 1)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t t[8];
    threads = atoi(argv[1]);
    if (threads > 8)
        threads = 8;
    for (int i = 0; i < threads && i < 8; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < threads && i < 8; i++)
        pthread_join(t[i], NULL);
    return value;
}
