// expect: output
// A thread prints a setting that may not have been read yet.
#include <pthread.h>
#include <stdio.h>

int limit;

void *serve(void *arg) {
    printf("serving up to %d clients\n", limit);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, serve, 0);
    limit = 64;
    pthread_join(t, 0);
    return 0;
}
