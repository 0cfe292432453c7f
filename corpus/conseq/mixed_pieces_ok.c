// expect: nothing
// A line is printed in two pieces, and another thread usually prints between them. Where it comes first
// the pieces are one line, as they are meant to be. That `level` is read beside a write has no part
// in it.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t begun, done;
static int level;

static void *work(void *arg) {
    sem_wait(&begun);
    fputs(level > 5 ? "hello, with all that there is to say\n" : "hello\n", stdout);
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
