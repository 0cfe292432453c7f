// Bit-fields in different units, and one pair under a lock.
#include <pthread.h>

static struct { unsigned open : 1; unsigned : 0; unsigned dirty : 1; unsigned old : 3; } flags;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *opener(void *arg) {
    flags.open = 1;
    pthread_mutex_lock(&lock);
    flags.old = 5;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *writer(void *arg) {
    pthread_mutex_lock(&lock);
    flags.dirty = flags.old == 5;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, opener, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
