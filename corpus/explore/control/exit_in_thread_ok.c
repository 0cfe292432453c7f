// expect: nothing
//@ exit: 5
// A thread calls exit(5) while main waits for it; handlers of atexit run, and the status is 5 in every schedule.
#include <pthread.h>
#include <stdlib.h>

static void at_exit(void) {}

void *leaves(void *arg) {
    exit(5);
    return arg;
}

int main(void) {
    atexit(at_exit);
    pthread_t t;
    pthread_create(&t, 0, leaves, 0);
    pthread_join(t, 0);
    return 0;
}
