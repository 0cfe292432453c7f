// expect: nothing
// A test sets an alarm against hanging, as many do, and does not hang: the alarm does not ring.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int counter;

void *worker(void *arg) {
    pthread_mutex_lock(&mu);
    counter++;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    alarm(1);
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    alarm(2);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(counter == 2 && alarm(0) > 0);
    return 0;
}
