// expect: nothing
// Each thread names itself and sees its own name, which is not that of another.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <string.h>

static void *names(void *name) {
    char mine[16];
    pthread_setname_np(pthread_self(), name);
    pthread_getname_np(pthread_self(), mine, sizeof mine);
    assert(!strcmp(mine, name));
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, names, "one");
    pthread_create(&b, 0, names, "two");
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
