// Thread attributes: own stack, small stack, created detached, a name, a guard. The argument and the result travel as ever.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

sem_t done;
long value;

void *work(void *arg) {
    pthread_setname_np(pthread_self(), "worker");
    value += (long)arg;
    sem_post(&done);
    return 0;
}

int main(void) {
    sem_init(&done, 0, 0);
    pthread_attr_t attr;
    pthread_t t;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    pthread_create(&t, &attr, work, (void *)1);
    sem_wait(&done);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_JOINABLE);
    void *stack = aligned_alloc(4096, 2 * 1024 * 1024);
    pthread_attr_setstack(&attr, stack, 2 * 1024 * 1024);
    for (int i = 0; i < 5; i++) { // the same stack again and again
        pthread_create(&t, &attr, work, (void *)1);
        pthread_join(t, 0);
    }
    pthread_attr_destroy(&attr);
    free(stack);
    return value != 6;
}
