// expect: nothing
// The kernel refuses a message that is too long, and an operation on a semaphore that is not there,
// at once, though the queue has no room and the first semaphore is zero.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/msg.h>
#include <sys/sem.h>

int queue, set;
struct {
    long type;
    char text[20000];
} message = {1, ""};

void *sends(void *arg) {
    assert(msgsnd(queue, &message, sizeof message.text, 0) < 0 && errno == EINVAL);
    struct sembuf both[] = {{0, -1, 0}, {9, 1, 0}};
    assert(semop(set, both, 2) < 0 && errno == EFBIG);
    return arg;
}

int main(void) {
    pthread_t a, b;
    queue = msgget(IPC_PRIVATE, 0600);
    set = semget(IPC_PRIVATE, 1, 0600);
    pthread_create(&a, 0, sends, 0);
    pthread_create(&b, 0, sends, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    msgctl(queue, IPC_RMID, 0);
    semctl(set, 0, IPC_RMID);
    return 0;
}
