// The correct twin of daemon_child_bad.c: the daemon's threads lock. What the process did before it became a daemon comes before
// what the daemon does. Silent in every mode.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

int shared;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *add(void *arg) {
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    int ended[2];
    char byte;
    if (pipe(ended)) return 1;
    pid_t child = fork();
    if (child == 0) {
        pthread_t before, a, b;
        pthread_create(&before, 0, add, 0);
        pthread_join(before, 0);
        if (daemon(1, 1)) _exit(1);
        pthread_create(&a, 0, add, 0);
        pthread_create(&b, 0, add, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        _exit(0);
    }
    close(ended[1]);
    int status;
    waitpid(child, &status, 0);
    return read(ended[0], &byte, 1) || status;
}
