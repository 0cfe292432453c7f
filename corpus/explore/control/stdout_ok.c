// expect: nothing
// Threads print whole lines with stdio and write: lines come in any order, but none is torn, and stdio's lock is no deadlock.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

void *prints(void *arg) {
    for (int i = 0; i < 2; i++) printf("%s %d\n", (char *)arg, i);
    flockfile(stdout);
    putc_unlocked('.', stdout);
    putc_unlocked('\n', stdout);
    funlockfile(stdout);
    return write(1, "raw\n", 4) == 4 ? arg : 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, prints, "one");
    pthread_create(&b, 0, prints, "two");
    pthread_join(a, 0);
    pthread_join(b, 0);
    return fflush(stdout);
}
