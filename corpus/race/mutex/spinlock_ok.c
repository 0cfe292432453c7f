// Spinlocks by lock and trylock. Locks like any other: silent in every mode. A spinlock is four bytes:
// what lies behind it says nothing of it.
// expect: nothing
#include <pthread.h>
#include <sched.h>

struct {
    pthread_spinlock_t mu;
    int behind[7];
} held = {.behind = {-1, -1, -1, -1, -1, -1, -1}};
long count;

void *work(void *arg) {
    for (int i = 0; i < 1000; i++) {
        if (i % 2) pthread_spin_lock(&held.mu);
        else while (pthread_spin_trylock(&held.mu) != 0) sched_yield();
        count++;
        pthread_spin_unlock(&held.mu);
    }
    return arg;
}

int main(void) {
    pthread_spin_init(&held.mu, PTHREAD_PROCESS_PRIVATE);
    count = 0;
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    pthread_spin_destroy(&held.mu);
    return count != 2000;
}
