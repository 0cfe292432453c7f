// expect: nothing
// The program becomes another one at its end, which ends with 0: it did not die.
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int n;

void *adds(void *arg) {
    pthread_mutex_lock(&mu);
    n++;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, adds, 0);
    adds(0);
    pthread_join(t, 0);
    execlp("true", "true", (char *)0);
    return 9;
}
