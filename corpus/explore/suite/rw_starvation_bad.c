// expect: assertion
//@ bound: 1
// Readers have preference and hand over to each other; the writer tries three times and counts on getting in.
// Fails when: at each of the writer's tries some reader is inside.
#include <assert.h>
#include <pthread.h>

enum { TRIES = 3 };
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
int value;

void *reader(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_rwlock_rdlock(&rw);
        arg = (char *)arg + value;
        pthread_rwlock_unlock(&rw);
    }
    return arg;
}

void *writer(void *arg) {
    int got = 0;
    for (int i = 0; i < TRIES && !got; i++) got = pthread_rwlock_trywrlock(&rw) == 0;
    assert(got);                                        // expect: assertion here
    value = 1;
    pthread_rwlock_unlock(&rw);
    return arg;
}

int main(void) {
    pthread_t a, b, w;
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_create(&w, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(w, 0);
    return 0;
}
