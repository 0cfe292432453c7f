// A spinlock that is made again after its last use. `spinlock_made_again_bad.c` is the twin.
// expect: nothing
#include <pthread.h>

pthread_spinlock_t lock;
int counter;

void *work(void *arg) {
    pthread_spin_lock(&lock);
    counter++;
    pthread_spin_unlock(&lock);
    return arg;
}

int main(void) {
    for (int round = 0; round < 2; round++) {
        pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
        pthread_t t[2];
        for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
        for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    }
    return counter != 4;
}
