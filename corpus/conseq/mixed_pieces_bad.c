// expect: output
// A line is printed in two pieces, and another thread usually prints between them. Where it comes first
// it prints something else: it has read the level before it was set.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t begun, done;
static int level;

static void *work(void *arg) {
    sem_wait(&begun);
    fputs(level ? "hello\n" : "hello, nobody\n", stdout);
    sem_post(&done);
    return arg;
}

int main(void) {
    pthread_t worker;
    sem_init(&begun, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&worker, 0, work, 0);
    sem_post(&begun);
    level = 2;
    fputs("returned ", stdout);
    sem_wait(&done);
    fputs("result\n", stdout);
    pthread_join(worker, 0);
    return 0;
}
