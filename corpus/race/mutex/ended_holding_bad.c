// Two threads end and still hold a mutex: whoever wants one of them next waits for ever.
// `ended_holding_ok.c` is the twin.
#include <pthread.h>

pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

void *returns(void *arg) {
    pthread_mutex_lock(&first);                         // expect: lock-leak #1
    return arg;
}

void *exits(void *arg) {
    pthread_mutex_lock(&second);                        // expect: lock-leak #2
    pthread_exit(arg);
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, returns, 0);
    pthread_create(&b, 0, exits, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
