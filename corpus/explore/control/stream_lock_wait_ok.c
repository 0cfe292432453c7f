// expect: nothing
// A thread keeps the lock of a stream while it waits for another one, which uses the stream only
// after it has told.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t told = PTHREAD_COND_INITIALIZER;
int is_told;
FILE *output;

void *tells(void *arg) {
    pthread_mutex_lock(&mu);
    is_told = 1;
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&mu);
    fputs("told\n", output);
    fprintf(output, "%d\n", 1);
    return arg;
}

int main(void) {
    output = fopen("/dev/null", "w");
    assert(output);
    pthread_t t;
    pthread_create(&t, 0, tells, 0);
    flockfile(output);
    fputs("begin\n", output);
    pthread_mutex_lock(&mu);
    while (!is_told) pthread_cond_wait(&told, &mu);
    pthread_mutex_unlock(&mu);
    fputs("end\n", output);
    funlockfile(output);
    pthread_join(t, 0);
    fclose(output);
    return 0;
}
