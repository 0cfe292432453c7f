// expect: nothing
// Parent and child talk through a pipe: the child waits for what a thread of the parent writes while another waits for the child.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int fds[2];

void *writes(void *arg) {
    assert(write(fds[1], "x", 1) == 1);
    return arg;
}

int main(void) {
    char *kept = malloc(16);
    assert(kept && pipe(fds) == 0);
    pid_t child = fork();
    if (child == 0) {
        char c;
        kept = realloc(kept, 4096); // a block of the parent's
        int ok = kept && read(fds[0], &c, 1) == 1 && c == 'x';
        free(kept);
        _exit(ok ? 0 : 1);
    }
    pthread_t t;
    pthread_create(&t, 0, writes, 0);
    int status;
    assert(waitpid(child, &status, 0) == child && status == 0);
    pthread_join(t, 0);
    free(kept);
    return 0;
}
