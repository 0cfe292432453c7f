// expect(sc c11): nothing
// A handler that interrupts a wait reads what the sender of the signal has stored before.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x;
static sem_t ready, handled;

static void sees(int n) {
    (void)n;
    if (atomic_load_explicit(&x, memory_order_relaxed) != 1) abort();
    sem_post(&handled);
}

static void *waits(void *arg) {
    sem_post(&ready);
    while (sem_wait(&handled)) {}
    return arg;
}

int main(void) {
    sem_init(&ready, 0, 0);
    sem_init(&handled, 0, 0);
    signal(SIGUSR1, sees);
    pthread_t t;
    pthread_create(&t, 0, waits, 0);
    sem_wait(&ready);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    pthread_kill(t, SIGUSR1);
    pthread_join(t, 0);
    return 0;
}
