// expect: error-message
// After Mozilla: more than three accesses take part. A reader looks at the version of a table before and after, and complains if it has
// changed in between, though the writer is to have kept it out.
#include <pthread.h>
#include <stdio.h>

int version, entries, names;

void *grow(void *arg) {
    version++;
    entries += 2;
    names += 2;
    return arg;
}

void *reader(void *arg) {
    int before = version;
    int e = entries;
    int n = names;
    if (before == version && e != n)
        fprintf(stderr, "table is broken: %d entries, %d names\n", e, n);
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
