// Exit handlers, in reverse order, after every thread was joined; and exit() called by a thread that is not the main one.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

long data[2];

static void second_to_run(void) {
    if (data[0] != 1 || data[1] != 2) _exit(1);
}
static void first_to_run(void) { data[1]++; }

void *work(void *arg) {
    data[0]++;
    data[1]++;
    return arg;
}

void *ends_it(void *arg) {
    pthread_join(*(pthread_t *)arg, 0);
    exit(0);
}

int main(void) {
    static pthread_t worker, last;
    atexit(second_to_run);
    atexit(first_to_run);
    pthread_create(&worker, 0, work, 0);
    pthread_create(&last, 0, ends_it, &worker);
    pause();
}
