// expect: deadlock
//@ bound: 1
// Two counters of users, each under its own lock; whoever is the first user of one also takes a third lock, the last one gives it
// back. The two kinds of thread take the locks in opposite order when the timing is right.
// Fails when: A is first, takes the guard and is preempted before it leaves its section; B, first of the other kind, holds its own
// lock and waits for the guard; A, to finish, needs B's lock.
#include <pthread.h>

pthread_mutex_t first_mu = PTHREAD_MUTEX_INITIALIZER, second_mu = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
int first_users, second_users;

void *one(void *arg) {
    pthread_mutex_lock(&first_mu);
    if (++first_users == 1) pthread_mutex_lock(&guard); // expect: deadlock here
    pthread_mutex_unlock(&first_mu);
    pthread_mutex_lock(&second_mu);                     // expect: deadlock here
    pthread_mutex_unlock(&second_mu);
    pthread_mutex_lock(&first_mu);
    if (--first_users == 0) pthread_mutex_unlock(&guard);
    pthread_mutex_unlock(&first_mu);
    return arg;
}

void *other(void *arg) {
    pthread_mutex_lock(&second_mu);
    if (++second_users == 1) pthread_mutex_lock(&guard); // expect: deadlock here
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
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);                                 // expect: deadlock here
    return 0;
}
