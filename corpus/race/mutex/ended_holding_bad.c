// A thread ends and still holds a mutex, another one a spinlock: whoever wants them next waits for ever.
// `ended_holding_ok.c` is the twin.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_spinlock_t spin;

void *keeps_mutex(void *arg) {
    pthread_mutex_lock(&mu);                            // expect: lock-leak #1
    return arg;
}

void *keeps_spinlock(void *arg) {
    pthread_spin_lock(&spin);                           // expect: lock-leak #2
    pthread_exit(arg);
}

int main(void) {
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_t a, b;
    pthread_create(&a, 0, keeps_mutex, 0);
    pthread_create(&b, 0, keeps_spinlock, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
