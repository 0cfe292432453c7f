// expect: assertion
//@ bound: 1
// Names of threads are seen by all of them.
// Fails when: main is named between the two looks at its name.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <string.h>

static pthread_t first;

static void *names(void *arg) {
    pthread_setname_np(first, "named");
    return arg;
}

static void *looks(void *arg) {
    char before[16], after[16];
    pthread_getname_np(first, before, sizeof before);
    pthread_getname_np(first, after, sizeof after);
    assert(!strcmp(before, after));                     // expect: assertion here
    return arg;
}

int main(void) {
    first = pthread_self();
    pthread_t a, b;
    pthread_create(&a, 0, names, 0);
    pthread_create(&b, 0, looks, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
