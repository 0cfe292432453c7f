// expect: deadlock
// A thread keeps the lock of a stream while it waits for another one, which uses the stream before
// it tells.
// Fails when: main takes the lock of the stream first.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t told = PTHREAD_COND_INITIALIZER;
int is_told;
FILE *output;

void *tells(void *arg) {
    fputs("tells\n", output);                           // expect: deadlock here
    pthread_mutex_lock(&mu);
    is_told = 1;
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    output = fopen("/dev/null", "w");
    assert(output);
    pthread_t t;
    pthread_create(&t, 0, tells, 0);
    flockfile(output);
    pthread_mutex_lock(&mu);
    while (!is_told) pthread_cond_wait(&told, &mu);     // expect: deadlock here
    pthread_mutex_unlock(&mu);
    funlockfile(output);
    pthread_join(t, 0);
    fclose(output);
    return 0;
}
