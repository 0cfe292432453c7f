// A child that `clone` makes, with its own memory, races neither with its maker's threads nor, if it
// locks, within itself. `clone_child_bad.c` is the twin.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter, own;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

static void *work_alone(void *arg) {
    for (int i = 0; i < 100; i++) own++;
    return arg;
}

static int child(void *arg) {
    (void)arg;
    own++; // the maker's thread has a copy of its own
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    return counter == 200 ? 0 : 1;
}

int main(void) {
    const size_t size = 1 << 18;
    char *stack = malloc(size);
    pthread_t thread;
    pthread_create(&thread, NULL, work_alone, NULL);
    int pid = clone(child, stack + size, SIGCHLD, NULL), status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) abort();
    pthread_join(thread, NULL);
    free(stack);
    return 0;
}
