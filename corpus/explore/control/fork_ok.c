// expect: nothing
// A test that forks while another thread runs: the child is a process of its own and ends by itself; its status comes back.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

atomic_int counter;

void *worker(void *arg) {
    atomic_fetch_add(&counter, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        int before = atomic_load(&counter);
        atomic_fetch_add(&counter, 10);
        _exit(before <= 1 && atomic_load(&counter) >= 10 ? 7 : 1);
    }
    int status;
    assert(waitpid(child, &status, 0) == child);
    assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    pthread_join(t, 0);
    assert(atomic_load(&counter) == 1);
    return 0;
}
