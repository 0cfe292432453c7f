// A handler runs in the thread that pthread_kill names, and counts there; another thread counts too, without a lock. Every mode
// reports, with the handler on the stack.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

long count;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void handler(int signal) {
    count = signal;                                     // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
}

void *interrupted(void *arg) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < 2) usleep(100);
    return arg;
}

void *other(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    count = 0;                                          // expect: data-race write #1
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    return arg;
}

int main(void) {
    count = 0;
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    pthread_t a, b;
    pthread_create(&a, 0, interrupted, 0);
    pthread_create(&b, 0, other, 0);
    pthread_kill(a, SIGUSR1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
