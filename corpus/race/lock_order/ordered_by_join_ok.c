// Opposite orders that can never meet: the first thread is joined before the second is created, and main itself does both before
// and after. Silent in every mode.
// expect: nothing
#include <pthread.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void take(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

void *ab(void *arg) { take(&a, &b); return arg; }
void *ba(void *arg) { take(&b, &a); return arg; }

int main(void) {
    pthread_t t;
    take(&b, &a);
    pthread_create(&t, 0, ab, 0);
    pthread_join(t, 0);
    pthread_create(&t, 0, ba, 0);
    pthread_join(t, 0);
    take(&a, &b);
    return 0;
}
