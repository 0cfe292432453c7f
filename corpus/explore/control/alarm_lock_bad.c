// expect: deadlock
//@ bound: 1
// A handler takes a lock that the thread it interrupts may hold.
// Fails when: the alarm rings while main holds the mutex.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void ring(int number) {
    (void)number;
    pthread_mutex_lock(&mu);                            // expect: deadlock here
    counter++;
    pthread_mutex_unlock(&mu);
}

int main(void) {
    signal(SIGALRM, ring);
    alarm(1);
    pthread_mutex_lock(&mu);
    counter++;
    pthread_mutex_unlock(&mu);
    alarm(0);
    return 0;
}
