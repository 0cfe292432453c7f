// Three hundred short threads, in waves: more than any fixed number of thread slots. Each writes its own element and adds
// to a total under a mutex. Silent in every mode.
// expect: nothing
#include <pthread.h>

int elements[300], total;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

void *work(void *arg) {
    int *mine = arg;
    *mine = 1;
    pthread_mutex_lock(&mu);
    total += *mine;
    pthread_mutex_unlock(&mu);
    return 0;
}

int main(void) {
    for (int wave = 0; wave < 30; wave++) {
        pthread_t t[10];
        for (int i = 0; i < 10; i++) pthread_create(&t[i], 0, work, &elements[wave * 10 + i]);
        for (int i = 0; i < 10; i++) pthread_join(t[i], 0);
        for (int i = 0; i < 10; i++) elements[wave * 10 + i]++; // ordered by the join
    }
    return total != 300;
}
