// expect: assertion
//@ bound: 1
// A writer that takes the lock for reading.
// Fails when: it is preempted between its two writes and a reader, who may come in, sees half of them.
#include <assert.h>
#include <pthread.h>

pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
int first, second;

void *reader(void *arg) {
    pthread_rwlock_rdlock(&rw);
    assert(first == second);                            // expect: assertion here
    pthread_rwlock_unlock(&rw);
    return arg;
}

void *writer(void *arg) {
    pthread_rwlock_rdlock(&rw); // should be wrlock
    first++;
    second++;
    pthread_rwlock_unlock(&rw);
    return arg;
}

int main(void) {
    pthread_t r, w;
    pthread_create(&r, 0, reader, 0);
    pthread_create(&w, 0, writer, 0);
    pthread_join(r, 0);
    pthread_join(w, 0);
    return 0;
}
