// expect: deadlock
//@ bound: 1
// A lock that prefers writers is read-locked twice by one thread.
// Fails when: a writer begins to wait between the two.
#define _GNU_SOURCE
#include <pthread.h>

static pthread_rwlock_t lock;

static void *reader(void *arg) {
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_rdlock(&lock);                       // expect: deadlock here
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *writer(void *arg) {
    pthread_rwlock_wrlock(&lock);                       // expect: deadlock here
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock, &kind);
    pthread_t a, b;
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, writer, 0);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);
    return 0;
}
