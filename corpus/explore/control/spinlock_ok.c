// expect: nothing
// pthread_spin_lock: a thread that waits for it can not run until it is free.
#include <assert.h>
#include <pthread.h>

pthread_spinlock_t spin;
int counter;

void *worker(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_spin_lock(&spin);
        counter++;
        pthread_spin_unlock(&spin);
    }
    return arg;
}

int main(void) {
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 4);
    return 0;
}
