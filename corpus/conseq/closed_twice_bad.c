// expect: double-free
// Whether the block is given back is decided by a flag that is read and set under two locks.
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int closed;
char *block;

int is_closed(void) {
    pthread_mutex_lock(&m);
    int c = closed;
    pthread_mutex_unlock(&m);
    return c;
}

void *closer(void *arg) {
    if (!is_closed()) {
        pthread_mutex_lock(&m);
        closed = 1;
        pthread_mutex_unlock(&m);
        free(block);
    }
    return arg;
}

int main(void) {
    block = malloc(16);
    pthread_t a, b;
    pthread_create(&a, 0, closer, 0);
    pthread_create(&b, 0, closer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
