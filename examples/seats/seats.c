/* Two customers and one seat. The check and the booking are two critical sections, so both
 * customers may see the free seat and book it. Every access is under the lock: there is no race. */
#include <assert.h>
#include <pthread.h>

int seats = 1;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *customer(void *arg)
{
    pthread_mutex_lock(&mu);
    int free = seats > 0;
    pthread_mutex_unlock(&mu);
    if (!free)
        return arg;
    pthread_mutex_lock(&mu);
    seats--;
    assert(seats >= 0);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, customer, 0);
    pthread_create(&b, 0, customer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
