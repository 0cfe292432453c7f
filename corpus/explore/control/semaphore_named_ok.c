// expect: nothing
// A named semaphore lies in memory that `sem_close` gives back: what an execution has unmapped is not there for the next one.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

sem_t *named;
int handed_on;

static void *waits(void *arg) {
    sem_wait(named);
    if (handed_on != 1) abort();
    return arg;
}

int main(void) {
    char name[40];
    snprintf(name, sizeof name, "/raddle-corpus-%d", getpid());
    named = sem_open(name, O_CREAT, 0600, 0);
    if (named == SEM_FAILED) return 0;
    sem_unlink(name);
    pthread_t t;
    pthread_create(&t, 0, waits, 0);
    handed_on = 1;
    sem_post(named);
    pthread_join(t, 0);
    sem_close(named);
    return 0;
}
