// expect: nothing
// The twin of table_version_bad.c: version, entries and names change under a lock, and are read under it.
#include <pthread.h>
#include <stdio.h>

int version, entries, names;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

void *grow(void *arg) {
    pthread_rwlock_wrlock(&lock);
    version++;
    entries += 2;
    names += 2;
    pthread_rwlock_unlock(&lock);
    return arg;
}

void *reader(void *arg) {
    pthread_rwlock_rdlock(&lock);
    int before = version;
    int e = entries;
    int n = names;
    if (before == version && e != n)
        fprintf(stderr, "table is broken: %d entries, %d names\n", e, n);
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, grow, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
