// Memory that is allocated beside handlers, and in one of SIGABRT, which the thread brings upon itself; a handler that writes
// to a pipe, for the program's main loop to allocate.
// expect: nothing
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int ends[2];
sigjmp_buf back;

void tells(int signal) {
    int before = errno;
    char c = (char)signal;
    if (write(ends[1], &c, 1) != 1) _exit(1);
    errno = before;
}

void aborted(int signal) {
    (void)signal;
    char *volatile p = malloc(8);
    free(p);
    siglongjmp(back, 1);
}

void *work(void *arg) {
    char c;
    while (read(ends[0], &c, 1) != 1) {}
    free(malloc(8));
    return arg;
}

int main(void) {
    if (pipe(ends)) return 1;
    signal(SIGUSR1, tells);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_kill(t, SIGUSR1);
    pthread_join(t, 0);
    signal(SIGABRT, aborted);
    if (!sigsetjmp(back, 1)) abort();
    free(malloc(8));
    return 0;
}
