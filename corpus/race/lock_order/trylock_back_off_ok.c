// Opposite orders, but the second lock is only tried, and the first given back when that fails: nobody ever waits while holding.
// Silent in every mode, under contention.
// expect: nothing
#include <pthread.h>
#include <sched.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
long count;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(first);
        while (pthread_mutex_trylock(second) != 0) {
            pthread_mutex_unlock(first);
            sched_yield();
            pthread_mutex_lock(first);
        }
        count++;
        pthread_mutex_unlock(second);
        pthread_mutex_unlock(first);
    }
}

void *ab(void *arg) { both(&a, &b); return arg; }
void *ba(void *arg) { both(&b, &a); return arg; }

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, ab, 0);
    pthread_create(&t[1], 0, ba, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return count != 1000;
}
