// expect: deadlock
//@ bound: 1
// A thread looks at the flag that a handler sets, and then waits for a signal with pause().
// Fails when: the signal comes between the look and the wait: nothing wakes the thread.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

_Thread_local volatile sig_atomic_t told;

static void handler(int number) {
    (void)number;
    told = 1;
}

void *waiter(void *arg) {
    if (!told) pause();                                 // expect: deadlock here
    return arg;
}

int main(void) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    usleep(10000);
    pthread_kill(t, SIGUSR1);
    pthread_join(t, 0);                                 // expect: deadlock here
    return 0;
}
