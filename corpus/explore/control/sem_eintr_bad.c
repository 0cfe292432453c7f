// expect: assertion
//@ bound: 1
// A wait for a semaphore is taken to have worked, although a signal may have broken it off.
// Fails when: the signal comes while the worker waits, before the post.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

sem_t ready;
atomic_int value;

static void ring(int number) {
    (void)number;
}

void *worker(void *arg) {
    sem_wait(&ready);
    assert(atomic_load(&value) == 1);                   // expect: assertion here
    return arg;
}

int main(void) {
    struct sigaction action = {.sa_handler = ring};
    sigaction(SIGUSR1, &action, 0);
    sem_init(&ready, 0, 0);
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_kill(t, SIGUSR1);
    atomic_store(&value, 1);
    sem_post(&ready);
    pthread_join(t, 0);
    return 0;
}
