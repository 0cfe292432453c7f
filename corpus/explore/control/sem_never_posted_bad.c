// expect: deadlock
//@ bound: 0
//@ always
// Two threads wait for a semaphore that is posted once.
#include <pthread.h>
#include <semaphore.h>

sem_t items;

void *taker(void *arg) {
    sem_wait(&items);                                   // expect: deadlock here
    return arg;
}

int main(void) {
    sem_init(&items, 0, 1);
    pthread_t a, b;
    pthread_create(&a, 0, taker, 0);
    pthread_create(&b, 0, taker, 0);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);                                 // expect: deadlock here
    return 0;
}
