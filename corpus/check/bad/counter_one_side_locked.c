// The writer holds the lock, the reader does not.
#include <pthread.h>

static long total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *arg) {
    pthread_mutex_lock(&lock);
    total += 10; // expect: data-race write #1
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *reader(void *arg) {
    return (void *)total; // expect: data-race read #1
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
