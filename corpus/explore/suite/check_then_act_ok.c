// expect: nothing
// Two customers, one seat: the check and the booking are one critical section.
#include <assert.h>
#include <pthread.h>

int seats = 1;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *customer(void *arg) {
    pthread_mutex_lock(&mu);
    if (seats > 0) seats--;
    assert(seats >= 0);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, customer, 0);
    pthread_create(&b, 0, customer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
