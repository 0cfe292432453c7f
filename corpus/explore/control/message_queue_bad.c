// expect: assertion
//@ bound: 1
// Two threads each send one message, and the receiver takes the first for that of the first thread.
// Fails when: the second thread sends first.
#include <assert.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

mqd_t queue;

static void *send(void *text) {
    if (mq_send(queue, text, 1, 0) != 0) abort();
    return text;
}

int main(void) {
    char name[64], got[8];
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = sizeof got};
    snprintf(name, sizeof name, "/raddle_%d", getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    if (queue == (mqd_t)-1) return 1;
    mq_unlink(name);
    pthread_t a, b;
    pthread_create(&a, 0, send, "a");
    pthread_create(&b, 0, send, "b");
    if (mq_receive(queue, got, sizeof got, 0) != 1) return 1;
    assert(got[0] == 'a');                              // expect: assertion here
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
