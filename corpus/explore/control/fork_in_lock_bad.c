// expect: assertion
//@ bound: 1
// A child is forked while another thread may hold the lock, which nobody in the child will give back.
// Fails when: the worker holds the mutex when main forks.
#include <assert.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int counter;

void *worker(void *arg) {
    pthread_mutex_lock(&mu);
    counter++;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pid_t child = fork();
    if (child == 0) _exit(pthread_mutex_trylock(&mu) == 0 ? 0 : 1);
    int status;
    assert(waitpid(child, &status, 0) == child);
    pthread_join(t, 0);
    assert(status == 0);                                // expect: assertion here
    return 0;
}
