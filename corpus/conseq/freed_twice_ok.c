// expect: nothing
// The twin of freed_twice_bad.c: a dump takes its buffer out of the socket before it gives the lock back.
#include <pthread.h>
#include <stdlib.h>

struct socket {
    pthread_mutex_t lock;
    char *buffer;
    int dumps;
};

static struct socket nl = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };

static void *dump(void *unused) {
    pthread_mutex_lock(&nl.lock);
    nl.buffer = malloc(64);
    nl.buffer[0] = 'x';
    nl.dumps++;
    char *own = nl.buffer;
    nl.buffer = 0;
    pthread_mutex_unlock(&nl.lock);
    free(own);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, dump, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return nl.dumps != 2;
}
