// fork from a program with threads: the child has one, goes on alone with what it inherited, allocates, locks (pthread_atfork
// keeps the mutex usable) and ends. The parent's threads run on meanwhile. Silent in every mode, in both processes.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
long count;

static void prepare(void) { pthread_mutex_lock(&mu); }
static void resume(void) { pthread_mutex_unlock(&mu); }

static void count_some(void) {
    for (int i = 0; i < 500; i++) {
        char *p = malloc(100);
        p[i % 100] = 1;
        pthread_mutex_lock(&mu);
        count += p[i % 100];
        pthread_mutex_unlock(&mu);
        free(p);
    }
}

void *work(void *arg) {
    count_some();
    return arg;
}

void *forks(void *arg) {
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            count_some();
            _exit(9);
        }
        int status;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) abort();
    }
    return arg;
}

int main(void) {
    pthread_atfork(prepare, resume, resume);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, i ? work : forks, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return count != 1000;
}
