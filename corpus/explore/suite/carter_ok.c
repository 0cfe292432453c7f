// expect: nothing
// Two counters of users, each under its own lock, and a guard for whoever is the first user of one. Whoever holds the guard asks
// only for the lock of its own counter, which no waiter for the guard holds.
#include <pthread.h>

pthread_mutex_t first_mu = PTHREAD_MUTEX_INITIALIZER, second_mu = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
int first_users, second_users;

void *one(void *arg) {
    pthread_mutex_lock(&first_mu);
    if (++first_users == 1) pthread_mutex_lock(&guard);
    pthread_mutex_unlock(&first_mu);
    pthread_mutex_lock(&first_mu);
    if (--first_users == 0) pthread_mutex_unlock(&guard);
    pthread_mutex_unlock(&first_mu);
    return arg;
}

void *other(void *arg) {
    pthread_mutex_lock(&second_mu);
    if (++second_users == 1) pthread_mutex_lock(&guard);
    pthread_mutex_unlock(&second_mu);
    pthread_mutex_lock(&second_mu);
    if (--second_users == 0) pthread_mutex_unlock(&guard);
    pthread_mutex_unlock(&second_mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
