// expect: nothing
// A thread tries a lock again and again until it has it, without a yield.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int n;

void *adds(void *arg) {
    while (pthread_mutex_trylock(&mu)) {
    }
    n++;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, adds, 0);
    pthread_create(&b, 0, adds, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return n - 2;
}
