// expect: nothing
//@ bound: 2
// Two semaphores of a set are taken together, so that nobody waits with one of them.
#include <assert.h>
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static int set, inside;

static void *work(void *arg) {
    struct sembuf take[] = {{0, -1, 0}, {1, -1, 0}}, give[] = {{0, 1, 0}, {1, 1, 0}};
    assert(!semop(set, take, 2));
    assert(++inside == 1);
    inside--;
    assert(!semop(set, give, 2));
    return arg;
}

int main(void) {
    set = semget(IPC_PRIVATE, 2, 0600);
    if (set < 0) return 1;
    struct sembuf begin[] = {{0, 1, 0}, {1, 1, 0}};
    semop(set, begin, 2);
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    semctl(set, 0, IPC_RMID);
    return 0;
}
