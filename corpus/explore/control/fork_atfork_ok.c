// expect: nothing
// pthread_atfork takes the lock around fork, so that the child, which has one thread, can take it too.
#include <assert.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void before(void) {
    pthread_mutex_lock(&mu);
}

static void after(void) {
    pthread_mutex_unlock(&mu);
}

void *worker(void *arg) {
    pthread_mutex_lock(&mu);
    counter++;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_atfork(before, after, after);
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pid_t child = fork();
    if (child == 0) {
        worker(0);
        _exit(counter == 1 || counter == 2 ? 0 : 1);
    }
    int status;
    assert(waitpid(child, &status, 0) == child && status == 0);
    pthread_join(t, 0);
    assert(counter == 1);
    return 0;
}
