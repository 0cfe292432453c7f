// 6.3.5 done right in C: pthread_once. Its completion happens before every return from pthread_once, in every mode.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

int *table;
pthread_once_t once = PTHREAD_ONCE_INIT;

void init_table(void) {
    table = calloc(16, sizeof *table);
    for (int i = 0; i < 16; i++) table[i] = i;
}

void *work(void *arg) {
    for (int i = 0; i < 1000; i++) {
        pthread_once(&once, init_table);
        if (table[i % 16] != i % 16) abort();
    }
    return arg;
}

int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    free(table);
    return 0;
}
