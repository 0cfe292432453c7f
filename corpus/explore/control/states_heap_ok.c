// expect: nothing
// A block is replaced by another when three rounds were made.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int *block, rounds;

void *replacer(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mu);
        if (++rounds == 3) {
            free(block);
            block = malloc(sizeof *block);
            *block = 3;
        }
        pthread_mutex_unlock(&mu);
    }
    return 0;
}

void *user(void *arg) {
    pthread_mutex_lock(&mu);
    rounds++;
    pthread_mutex_unlock(&mu);
    pthread_mutex_lock(&mu);
    int *mine = block;
    pthread_mutex_unlock(&mu);
    pthread_mutex_lock(&mu);
    if (mine == block)
        assert(*mine != 2);
    pthread_mutex_unlock(&mu);
    return 0;
}

int main(void) {
    pthread_t a, b;
    block = calloc(1, sizeof *block);
    pthread_create(&a, 0, replacer, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
