// A library. `fill_rates` runs when it is loaded and `forget_rates` when it is unloaded, so neither
// needs the lock.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rate, rounds;

__attribute__((constructor)) void fill_rates(void) {
    rate = 42;
}

__attribute__((destructor)) void forget_rates(void) {
    rounds = 0;
}

void raise_rate(void) {
    pthread_mutex_lock(&lock);
    rate++;
    rounds++;
    pthread_mutex_unlock(&lock);
}

int current_rate(void) {
    pthread_mutex_lock(&lock);
    int now = rate + rounds;
    pthread_mutex_unlock(&lock);
    return now;
}
