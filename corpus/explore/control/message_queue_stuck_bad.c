// expect: deadlock
//@ bound: 0
// Two threads receive from a queue to which nothing is sent.
// Fails when: always.
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

mqd_t queue;

static void *receive(void *arg) {
    char got[8];
    if (mq_receive(queue, got, sizeof got, 0) != 1) abort(); // expect: deadlock here
    return arg;
}

int main(void) {
    char name[64];
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 8};
    snprintf(name, sizeof name, "/raddle_stuck_%d", getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    if (queue == (mqd_t)-1) return 1;
    mq_unlink(name);
    pthread_t a, b;
    pthread_create(&a, 0, receive, 0);
    pthread_create(&b, 0, receive, 0);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);
    return 0;
}
