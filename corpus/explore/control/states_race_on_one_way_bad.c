// expect: assertion
// Each order of the critical sections leaves the same memory. Whether the accesses to data race
// depends on the order. They become scheduling points only if the search sees that they race.
// Fails when: the reader looks between the second write and the third.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
volatile int data;
int turns;

void *writer(void *arg) {
    pthread_mutex_lock(&mu);
    turns = 1;
    pthread_mutex_unlock(&mu);
    data = 1;
    data = 2;
    data = 0;
    pthread_mutex_lock(&mu);
    turns = 1;
    pthread_mutex_unlock(&mu);
    return 0;
}

void *reader(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mu);
        turns = 1;
        pthread_mutex_unlock(&mu);
    }
    assert(data != 2);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
