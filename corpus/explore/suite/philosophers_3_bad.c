// expect: deadlock
//@ bound: 1
// 3 philosophers, each taking the left fork first.
// Fails when: the first takes the left fork and is preempted; then the last, the last but one and so on take theirs, and each of
// them blocks on a fork that is taken. So one preemption is enough, for any number of philosophers.
#include <pthread.h>
#include <stdint.h>

enum { SEATS = 3 };
pthread_mutex_t fork_of[SEATS];

void *philosopher(void *arg) {
    int self = (intptr_t)arg;
    pthread_mutex_t *one = &fork_of[self], *two = &fork_of[(self + 1) % SEATS];
    pthread_mutex_lock(one);
    pthread_mutex_lock(two);                           // expect: deadlock here
    pthread_mutex_unlock(two);
    pthread_mutex_unlock(one);
    return arg;
}

int main(void) {
    pthread_t t[SEATS];
    for (int i = 0; i < SEATS; i++) pthread_mutex_init(&fork_of[i], 0);
    for (intptr_t i = 0; i < SEATS; i++) pthread_create(&t[i], 0, philosopher, (void *)i);
    for (int i = 0; i < SEATS; i++) pthread_join(t[i], 0); // expect: deadlock here
    return 0;
}
