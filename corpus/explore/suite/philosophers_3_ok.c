// expect: nothing
// 3 philosophers who take the fork of the lower number first.
#include <pthread.h>
#include <stdint.h>

enum { SEATS = 3 };
pthread_mutex_t fork_of[SEATS];

void *philosopher(void *arg) {
    int self = (intptr_t)arg;
    int next = (self + 1) % SEATS;
    pthread_mutex_t *one = &fork_of[self < next ? self : next], *two = &fork_of[self < next ? next : self];
    pthread_mutex_lock(one);
    pthread_mutex_lock(two);
    pthread_mutex_unlock(two);
    pthread_mutex_unlock(one);
    return arg;
}

int main(void) {
    pthread_t t[SEATS];
    for (int i = 0; i < SEATS; i++) pthread_mutex_init(&fork_of[i], 0);
    for (intptr_t i = 0; i < SEATS; i++) pthread_create(&t[i], 0, philosopher, (void *)i);
    for (int i = 0; i < SEATS; i++) pthread_join(t[i], 0);
    return 0;
}
