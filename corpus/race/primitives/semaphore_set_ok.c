// Semaphores of System V: one of a set as a lock, and a thread that waits until another one is zero.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>
#include <sys/sem.h>

static int set;
static long locked, data;

static void *work(void *arg) {
    for (int i = 0; i < 100; i++) {
        struct sembuf take = {0, -1, SEM_UNDO}, give = {0, 1, SEM_UNDO};
        if (semop(set, &take, 1)) abort();
        locked++;
        if (semop(set, &give, 1)) abort();
    }
    return arg;
}

static void *counts(void *arg) {
    struct sembuf down = {1, -1, 0};
    data++;
    if (semop(set, &down, 1)) abort();
    return arg;
}

int main(void) {
    union { int value; struct semid_ds *about; } one = {1};
    set = semget(IPC_PRIVATE, 2, 0600);
    if (set < 0 || semctl(set, 0, SETVAL, one) || semctl(set, 1, SETVAL, one)) return 1;
    pthread_t t[3];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    pthread_create(&t[2], 0, counts, 0);
    struct sembuf zero = {1, 0, 0};
    if (semop(set, &zero, 1)) abort();
    data++;
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    semctl(set, 0, IPC_RMID);
    return locked != 200 || data != 2;
}
