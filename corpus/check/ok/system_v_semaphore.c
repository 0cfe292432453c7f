// A System V semaphore of 1 is a lock.
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static int set, n;
static struct sembuf down = {0, -1, 0}, up = {0, 1, 0};

static void *worker(void *arg) {
    semop(set, &down, 1);
    n++;
    semop(set, &up, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    set = semget(1234, 1, 0600 | IPC_CREAT);
    semctl(set, 0, SETVAL, 1);
    pthread_create(&t, NULL, worker, NULL);
    worker(NULL);
    pthread_join(t, NULL);
    return n;
}
