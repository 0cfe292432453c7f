// expect: nothing
//@ bound: 2
// A thread waits for messages of its own type, and the sender waits for room: the queue holds one
// message at a time.
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>

struct message {
    long type;
    char text[8];
};

static int queue;

static void *receive(void *arg) {
    struct message got;
    long type = (long)arg;
    assert(msgrcv(queue, &got, sizeof got.text, type, 0) == sizeof got.text);
    assert(got.type == type);
    return 0;
}

int main(void) {
    queue = msgget(IPC_PRIVATE, 0600);
    if (queue < 0) return 1;
    struct msqid_ds about;
    msgctl(queue, IPC_STAT, &about);
    about.msg_qbytes = 8;
    msgctl(queue, IPC_SET, &about);
    pthread_t a, b;
    pthread_create(&a, 0, receive, (void *)1);
    pthread_create(&b, 0, receive, (void *)2);
    struct message sent = {2, "hello"};
    assert(!msgsnd(queue, &sent, sizeof sent.text, 0));
    sent.type = 1;
    assert(!msgsnd(queue, &sent, sizeof sent.text, 0));
    pthread_join(a, 0);
    pthread_join(b, 0);
    msgctl(queue, IPC_RMID, 0);
    return 0;
}
