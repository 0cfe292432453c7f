// expect: nothing
//@ bound: 1
// A thread waits for a message with a time-out of an hour, which another one sends: the wait is not given up.
#include <assert.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

mqd_t queue;

static void *send(void *arg) {
    if (mq_send(queue, "a", 1, 0) != 0) abort();
    return arg;
}

int main(void) {
    char name[64], got[8];
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = sizeof got};
    snprintf(name, sizeof name, "/raddle_%d", getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    if (queue == (mqd_t)-1) return 1;
    mq_unlink(name);
    struct timespec late;
    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += 3600;
    pthread_t a;
    pthread_create(&a, 0, send, 0);
    assert(mq_timedreceive(queue, got, sizeof got, 0, &late) == 1);
    pthread_join(a, 0);
    return 0;
}
