// expect: nothing
// Two-stage access with both stages under the first lock: the lock of the second is nested in it.
#include <assert.h>
#include <pthread.h>

int first, second;
pthread_mutex_t first_mu = PTHREAD_MUTEX_INITIALIZER, second_mu = PTHREAD_MUTEX_INITIALIZER;

void *writer(void *arg) {
    pthread_mutex_lock(&first_mu);
    first = 1;
    pthread_mutex_lock(&second_mu);
    second = first + 1;
    pthread_mutex_unlock(&second_mu);
    pthread_mutex_unlock(&first_mu);
    return arg;
}

void *reader(void *arg) {
    pthread_mutex_lock(&first_mu);
    int x = first;
    pthread_mutex_lock(&second_mu);
    int y = second;
    pthread_mutex_unlock(&second_mu);
    pthread_mutex_unlock(&first_mu);
    assert(x == 0 || y == x + 1);
    return arg;
}

int main(void) {
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
