// Any number of threads may read what nobody writes meanwhile. Silent in every mode.
// expect: nothing
#include <pthread.h>

int table[1000];

void *work(void *arg) {
    long sum = 0;
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < 1000; i++) sum += table[i];
    return (char *)arg + sum;
}

int main(void) {
    for (int i = 0; i < 1000; i++) table[i] = i;
    pthread_t t[4];
    void *sum;
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], &sum);
    table[0] = 1;
    return (long)sum != 20 * 499500;
}
