// Mutexes on the heap and on the stack, destroyed and made again at the same address by other threads: the old lock's
// history must not stick to the new one. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

struct account { pthread_mutex_t mu; long balance; };

static void *deposit(void *arg) {
    struct account *a = arg;
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&a->mu);
        a->balance++;
        pthread_mutex_unlock(&a->mu);
    }
    return 0;
}

void *work(void *arg) {
    for (int i = 0; i < 20; i++) {
        struct account *a = malloc(sizeof *a), local;
        struct account *both[2] = {a, &local};
        for (int k = 0; k < 2; k++) {
            pthread_mutex_init(&both[k]->mu, 0);
            both[k]->balance = 0;
            pthread_t t;
            pthread_create(&t, 0, deposit, both[k]);
            deposit(both[k]);
            pthread_join(t, 0);
            if (both[k]->balance != 100) abort();
            pthread_mutex_destroy(&both[k]->mu);
        }
        free(a);
    }
    return arg;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
