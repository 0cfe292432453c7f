// Opposite orders, but the second lock is only tried, and the first given back when that fails.
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t a_lock = PTHREAD_MUTEX_INITIALIZER, b_lock = PTHREAD_MUTEX_INITIALIZER;
static int moved;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    for (;;) {
        pthread_mutex_lock(first);
        if (pthread_mutex_trylock(second) == 0)
            break;
        pthread_mutex_unlock(first);
        sched_yield();
    }
    moved++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *left(void *arg) { both(&a_lock, &b_lock); return NULL; }
static void *right(void *arg) { both(&b_lock, &a_lock); return NULL; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
