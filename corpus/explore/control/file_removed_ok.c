// expect: nothing
// Main makes a file, and a thread removes it: each schedule has a file of its own.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static char name[] = "/tmp/raddle-corpus-XXXXXX";

static void *removes(void *arg) {
    assert(unlink(name) == 0);
    return arg;
}

static void *nothing(void *arg) { return arg; }

int main(void) {
    close(mkstemp(name));
    pthread_t a, b;
    pthread_create(&a, 0, removes, 0);
    pthread_create(&b, 0, nothing, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
