// Two threads use a count under a lock for readers and writers of a library that is not there.
// Names about its owner or its writers take nothing.
#include <cups/thread.h>
#include <pthread.h>

static cups_rwlock_t lock;
static int count;

static void *work(void *arg) {
    cupsRWLockWriterWaiting(&lock);
    cupsRWLockWrite(&lock);
    count++;
    cupsRWLockWriteDone(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    int n;
    pthread_create(&thread, NULL, work, NULL);
    cupsRWLockRead(&lock);
    n = count;
    cupsRWUnlock(&lock);
    pthread_join(thread, NULL);
    return n;
}
