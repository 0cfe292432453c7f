// A child that `clone` makes, with its own memory, is watched as one of `fork`.
// `clone_child_ok.c` is the twin.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

_Alignas(64) int counter;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *work(void *arg) {
    counter++; // expect: data-race write #1 | read #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static int child(void *arg) {
    (void)arg;
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    counter++; // expect: data-race write #1 | read #1
    pthread_join(thread, NULL);
    return 0;
}

int main(void) {
    const size_t size = 1 << 18;
    char *stack = malloc(size);
    counter = 0;
    int pid = clone(child, stack + size, SIGCHLD, NULL), status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) abort();
    free(stack);
    return 0;
}
