// The header that defines THREAD is written by the build, and is not there.
#include <pthread.h>
#include "config_that_the_build_writes.h"

THREAD int depth;
static MY_THREAD_LOCAL struct {
    int count;
} errors;

static void *work(void *arg) {
    depth++;
    errors.count++;
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
