// One thread alone gets a signal, whichever task it runs at that moment.
//@ flags: -O1 -fopenmp
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

enum { TASKS = 60 };
static int ticks, last[4]; // the handler's own
static long sums[TASKS];

static void tick(int signal) {
    last[ticks++ % 4] = signal;
}

int main(void) {
    struct sigaction action = {.sa_handler = tick};
    sigaction(SIGUSR1, &action, 0);
    pthread_t self = pthread_self();
#pragma omp parallel num_threads(2)
#pragma omp master
    for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
        {
            for (int k = 0; k < 50; k++) sums[i] += k;
            if (pthread_equal(pthread_self(), self)) pthread_kill(self, SIGUSR1);
        }
    }
    return ticks <= TASKS ? 0 : 1;
}
