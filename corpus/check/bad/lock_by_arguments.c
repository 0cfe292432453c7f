// A program that decides by its arguments whether it locks has a way without the lock.
#include <pthread.h>
#include <stddef.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_safe;

static void *work(void *data) {
    if (is_safe)
        pthread_mutex_lock(&lock);
    total++; // expect: data-race #1
    if (is_safe)
        pthread_mutex_unlock(&lock);
    return data;
}

int main(int argc, char **argv) {
    pthread_t t;
    is_safe = argc > 1;
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
    pthread_join(t, NULL);
    return 0;
}
