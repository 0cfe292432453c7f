// expect: nothing
// All threads wait for the outside world: another process answers after a while. This is no deadlock (4.2 of the paper).
#include <assert.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

int ends[2];

void *reader(void *arg) {
    char byte = 0;
    assert(read(ends[0], &byte, 1) == 1 && byte == 'x');
    return arg;
}

int main(void) {
    assert(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        usleep(20000);
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    close(ends[1]);
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    pthread_join(t, 0);
    int status;
    assert(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}
