// One thread takes the lock, another releases it.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *releaser(void *arg) {
    pthread_mutex_unlock(&lock); // expect: unlock-not-held #1
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_mutex_lock(&lock);
    pthread_create(&t, NULL, releaser, NULL);
    pthread_join(t, NULL);
    return 0;
}
