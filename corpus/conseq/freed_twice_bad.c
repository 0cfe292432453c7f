// expect: double-free
// After CVE-2016-9806 (netlink_dump in Linux): each dump leaves its buffer in the socket and releases what it finds there when the
// lock is gone. Two dumps at once release one buffer twice, and the other never.
#include <pthread.h>
#include <stdlib.h>

struct socket {
    pthread_mutex_t lock;
    char *buffer;
    int dumps;
};

static struct socket nl = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };

static void *dump(void *unused) {
    pthread_mutex_lock(&nl.lock);
    nl.buffer = malloc(64);
    nl.buffer[0] = 'x';
    nl.dumps++;
    pthread_mutex_unlock(&nl.lock);
    free(nl.buffer);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, dump, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return nl.dumps != 2;
}
