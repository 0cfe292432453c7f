// expect: nothing
// The default kind lets readers in while a writer waits: it may be read-locked twice.
#define _GNU_SOURCE
#include <pthread.h>

static pthread_rwlock_t lock;

static void *reader(void *arg) {
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *writer(void *arg) {
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_rwlock_init(&lock, 0);
    pthread_t a, b;
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
