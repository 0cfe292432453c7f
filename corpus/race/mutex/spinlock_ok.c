// Spinlocks by lock and trylock. Locks like any other: silent in every mode.
// expect: nothing
#include <pthread.h>
#include <sched.h>

pthread_spinlock_t mu;
long count;

void *work(void *arg) {
    for (int i = 0; i < 1000; i++) {
        if (i % 2) pthread_spin_lock(&mu);
        else while (pthread_spin_trylock(&mu) != 0) sched_yield();
        count++;
        pthread_spin_unlock(&mu);
    }
    return arg;
}

int main(void) {
    pthread_spin_init(&mu, PTHREAD_PROCESS_PRIVATE);
    count = 0;
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    pthread_spin_destroy(&mu);
    return count != 2000;
}
