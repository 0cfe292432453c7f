// expect: nothing
// The environment is set before the threads start, and only read afterwards.
#include <pthread.h>
#include <stdlib.h>
#include "work.h"

static void *reader(void *arg) {
    for (int i = 0; i < 240; i++) {
        work(4);
        *(int *)arg += atoi(getenv("LEVEL"));
    }
    return 0;
}

int main(void) {
    pthread_t other;
    int one = 0, two = 0;
    setenv("LEVEL", "3", 1);
    pthread_create(&other, 0, reader, &one);
    reader(&two);
    pthread_join(other, 0);
    return one == 720 && two == 720 ? 0 : 1;
}
