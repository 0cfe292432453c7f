// expect: assertion
// After MySQL #35714 (figure 8 of the paper): the slave reads the log at a position that the master is to have moved on in between.
// Every access is under the lock, and the program is right only when the slave's two sections are not done as one.
#include <assert.h>
#include <pthread.h>

int pos = 100;
int requested = 104;
pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

void *master(void *arg) {
    pthread_mutex_lock(&log_lock);
    pos += 4;
    pthread_mutex_unlock(&log_lock);
    return arg;
}

void *slave(void *arg) {
    pthread_mutex_lock(&log_lock);
    int here = pos;
    pthread_mutex_unlock(&log_lock);
    assert(here == requested);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, master, 0);
    pthread_create(&b, 0, slave, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
