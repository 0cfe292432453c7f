// expect: deadlock
//@ bound: 1
// The same with a set that has a key and that the program makes itself: nobody else knows it.
// Fails when: each thread has one of them.
#include <assert.h>
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <unistd.h>

static int set;

static void *work(void *arg) {
    unsigned short first = arg != 0;
    struct sembuf one = {first, -1, 0}, other = {!first, -1, 0}, give[] = {{0, 1, 0}, {1, 1, 0}};
    semop(set, &one, 1);
    semop(set, &other, 1);                              // expect: deadlock here
    semop(set, give, 2);
    return 0;
}

int main(void) {
    set = semget(0x7261000 + getpid(), 2, IPC_CREAT | IPC_EXCL | 0600);
    if (set < 0) return 1;
    struct sembuf begin[] = {{0, 1, 0}, {1, 1, 0}};
    semop(set, begin, 2);
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, &set);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);
    semctl(set, 0, IPC_RMID);
    return 0;
}
