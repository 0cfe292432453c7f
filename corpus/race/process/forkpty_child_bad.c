// A race in a child on a terminal of its own: forkpty(3) forks inside the C library. Every mode.
#include <pthread.h>
#include <pty.h>
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
    int terminal;
    pid_t child = forkpty(&terminal, 0, 0, 0);
    if (child == 0) {
        shared = 0;
        pthread_t a, b;
        pthread_create(&a, 0, first, 0);
        pthread_create(&b, 0, second, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}
