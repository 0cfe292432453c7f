// expect: nothing
// A message that speaks of failure is no failure: whoever does not get the lock says so, and tries again.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
atomic_int version;

void *writer(void *arg) {
    if (pthread_mutex_trylock(&m) != 0) {
        fprintf(stderr, "trylock failed, retrying\n");
        pthread_mutex_lock(&m);
    }
    atomic_fetch_add(&version, 2);
    pthread_mutex_unlock(&m);
    return arg;
}

void *reader(void *arg) {
    int before = atomic_load(&version);
    if (atomic_load(&version) != before)
        printf("error: inconsistent version, cannot go on yet\n");
    return arg;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, writer, 0);
    pthread_create(&c, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
