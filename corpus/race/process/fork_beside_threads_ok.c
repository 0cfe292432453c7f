// The child of a fork has a copy of what other threads of the parent have written, with a lock, an atomic or nothing that the child would
// need: there is nobody left to race with. It reads, writes and frees all of it, and makes a thread that does. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int locked, plain, *block;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
atomic_int over;

static void *writes(void *arg) {
    pthread_mutex_lock(&mu);
    locked++;
    pthread_mutex_unlock(&mu);
    plain = 1;
    block = malloc(sizeof *block);
    *block = 2;
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&over, memory_order_relaxed)) usleep(100);
    return arg;
}

static void *again(void *arg) {
    locked++;
    plain += *block;
    free(block);
    return arg;
}

static int child(void) {
    locked++;
    plain++;
    *block += 1;
    pthread_t t;
    pthread_create(&t, 0, again, 0);
    pthread_join(t, 0);
    return locked == 3 && plain == 5 ? 9 : 1;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writes, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    pid_t p = fork();
    if (p == 0) _exit(child());
    int status;
    waitpid(p, &status, 0);
    atomic_store_explicit(&over, 1, memory_order_relaxed);
    pthread_join(t, 0);
    free(block);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 9;
}
