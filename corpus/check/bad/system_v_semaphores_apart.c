// Two semaphores of one set are two locks.
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static int set, n;

static void *worker(void *arg) {
    struct sembuf down = {1, -1, 0}, up = {1, 1, 0};
    semop(set, &down, 1);
    n++; // expect: data-race #1
    semop(set, &up, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    struct sembuf down = {0, -1, 0}, up = {0, 1, 0};
    set = semget(1234, 2, 0600 | IPC_CREAT);
    semctl(set, 0, SETVAL, 1);
    semctl(set, 1, SETVAL, 1);
    pthread_create(&t, NULL, worker, NULL);
    semop(set, &down, 1);
    n++; // expect: data-race #1
    semop(set, &up, 1);
    pthread_join(t, NULL);
    return n;
}
