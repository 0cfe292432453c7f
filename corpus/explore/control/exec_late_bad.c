// expect: exit-status
//@ bound: 0
// The program becomes another one at its end, by the order of its threads.
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int n, first;

void *adds(void *arg) {
    pthread_mutex_lock(&mu);
    n++;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, adds, 0);
    pthread_mutex_lock(&mu);
    first = n++ == 0;
    pthread_mutex_unlock(&mu);
    pthread_join(t, 0);
    execlp(first ? "true" : "false", "x", (char *)0);
    return 9;
}
