// expect: nothing
// Two readers and a writer: readers see the pair whole, and the writer is alone.
#include <assert.h>
#include <pthread.h>

pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
int first, second;

void *reader(void *arg) {
    pthread_rwlock_rdlock(&rw);
    assert(first == second);
    pthread_rwlock_unlock(&rw);
    return arg;
}

void *writer(void *arg) {
    pthread_rwlock_wrlock(&rw);
    first++;
    second++;
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
