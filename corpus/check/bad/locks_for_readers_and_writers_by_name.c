// As the twin in ok/, but one thread counts after its release.
#include <cups/thread.h>
#include <pthread.h>

static cups_rwlock_t lock;
static int count;

static void *work(void *arg) {
    cupsRWLockWriterWaiting(&lock);
    cupsRWLockWrite(&lock);
    cupsRWLockWriteDone(&lock);
    count++; // expect: data-race #1
    return arg;
}

int main(void) {
    pthread_t thread;
    int n;
    pthread_create(&thread, NULL, work, NULL);
    cupsRWLockRead(&lock);
    n = count; // expect: data-race #1
    cupsRWUnlock(&lock);
    pthread_join(thread, NULL);
    return n;
}
