// As thread_local_by_macro.c, with macros that say nothing of threads of their own.
#include <pthread.h>
#include "config_that_the_build_writes.h"

EXPORT int depth;
static MY_THREADED struct {
    int count;
} errors;
MAIN_THREAD static int steps;
NOT_THREAD_LOCAL static int calls;

static void *work(void *arg) {
    depth++; // expect: data-race #1
    errors.count++; // expect: data-race #2
    steps++; // expect: data-race #3
    calls++; // expect: data-race #4
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
