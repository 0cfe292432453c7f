// expect: nothing
// vfork and exec from a thread: a bounded run and a clear sentence, no hang.
#define _DEFAULT_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

void *runs(void *arg) {
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)0);
        _exit(127);
    }
    int status;
    assert(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, runs, 0);
    pthread_join(t, 0);
    return 0;
}
