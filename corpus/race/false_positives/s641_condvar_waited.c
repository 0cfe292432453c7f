// 6.4.1, the other timing: the second thread does wait, and the signal wakes it. pthread_cond_signal and the return from
// pthread_cond_wait are SIGNAL and WAIT events, so that hybrid is silent without any annotation.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int obj, c, waiting;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;

static int is_waiting(void) {
    pthread_mutex_lock(&mu);
    int w = waiting;
    pthread_mutex_unlock(&mu);
    return w;
}

void *thread1(void *arg) {
    obj = 1;
    while (!is_waiting()) usleep(100); // once this is seen, the waiter is inside pthread_cond_wait
    pthread_mutex_lock(&mu);
    c = 1;
    pthread_cond_signal(&cv);
    pthread_mutex_unlock(&mu);
    return arg;
}

void *thread2(void *arg) {
    pthread_mutex_lock(&mu);
    waiting = 1;
    while (!c) pthread_cond_wait(&cv, &mu);
    pthread_mutex_unlock(&mu);
    obj = 2;
    return arg;
}

int main(void) {
    obj = c = waiting = 0;
    pthread_t a, b;
    pthread_create(&a, 0, thread1, 0);
    pthread_create(&b, 0, thread2, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return obj != 2;
}
