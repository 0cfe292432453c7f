// The same after the join, and texts of each thread's own.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char status[2][32];

static void *worker(void *arg) {
    long i = (long)arg;
    snprintf(status[i], sizeof status[i], "worker %ld", i);
    strcat(status[i], "!");
    return NULL;
}

int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%s %s\n", status[0], status[1]);
    return 0;
}
