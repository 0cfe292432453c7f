// The lock of a stream, which `flockfile` takes, orders.
// expect: nothing
#include <pthread.h>
#include <stdio.h>

static int lines, tries;

static void *print(void *arg) {
    for (int i = 0; i < 20; i++) {
        flockfile(stdout);
        lines++;
        funlockfile(stdout);
        if (ftrylockfile(stdout) == 0) {
            tries++;
            funlockfile(stdout);
        }
    }
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, print, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return lines != 40;
}
