// The writing side is asked for while the reading side is held.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void *updater(void *arg) {
    pthread_rwlock_rdlock(&lock); // expect: double-lock #1, deadlock #2
    if (value == 0) {
        pthread_rwlock_wrlock(&lock); // expect: double-lock #1, deadlock #2
        value = 1;
        pthread_rwlock_unlock(&lock);
    }
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, updater, NULL);
    pthread_create(&b, NULL, updater, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
