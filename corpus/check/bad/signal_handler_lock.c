// A handler takes a lock that the code it interrupts may hold.
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void on_alarm(int s) {
    pthread_mutex_lock(&lock); // expect: deadlock #1
    count = 0; // expect: data-race write #2
    pthread_mutex_unlock(&lock);
}

int main(void) {
    signal(SIGALRM, on_alarm);
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock); // expect: deadlock #1
        count++; // expect: deadlock #1
        pthread_mutex_unlock(&lock); // expect: deadlock #1
    }
    return count; // expect: data-race read #2
}
