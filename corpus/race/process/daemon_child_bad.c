// A race in a daemon: daemon(3) forks inside the C library, where no call of fork is seen. The process that was started stays until
// the daemon has ended. Every mode.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

int shared;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    shared = 1;                                         // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    shared = 2;                                         // expect: data-race write #1
    return arg;
}

int main(void) {
    int ended[2];
    char byte;
    if (pipe(ended)) return 1;
    pid_t child = fork();
    if (child == 0) {
        if (daemon(1, 1)) _exit(1);
        shared = 0;
        pthread_t a, b;
        pthread_create(&a, 0, first, 0);
        pthread_create(&b, 0, second, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        _exit(0);
    }
    close(ended[1]);
    int status;
    waitpid(child, &status, 0);
    // The daemon has the other end, and closes it when it ends.
    return read(ended[0], &byte, 1) || status;
}
