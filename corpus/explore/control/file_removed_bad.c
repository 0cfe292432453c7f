// expect: assertion
//@ bound: 1
// A file that is there may be gone when it is opened.
// Fails when: it is removed between the two calls.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static char name[] = "/tmp/raddle-corpus-XXXXXX";

static void *removes(void *arg) {
    unlink(name);
    return arg;
}

static void *opens(void *arg) {
    if (access(name, R_OK) == 0) {
        int file = open(name, O_RDONLY);
        assert(file >= 0);                              // expect: assertion here
        close(file);
    }
    return arg;
}

int main(void) {
    close(mkstemp(name));
    pthread_t a, b;
    pthread_create(&a, 0, opens, 0);
    pthread_create(&b, 0, removes, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    unlink(name);
    return 0;
}
