// 4.5: three threads, each two of which share a lock, though no lock is common to all three. Eraser's running
// intersection becomes empty and reports; comparing the locksets of each pair does not. Correct, so silent in hb;
// the paper promises silence in hybrid; fast follows hybrid. All take the locks in one order: no lock-order cycle.
// expect: nothing
#include <pthread.h>

pthread_mutex_t mu1 = PTHREAD_MUTEX_INITIALIZER, mu2 = PTHREAD_MUTEX_INITIALIZER, mu3 = PTHREAD_MUTEX_INITIALIZER;
int obj;

static void change(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(outer);
        pthread_mutex_lock(inner);
        obj++;
        pthread_mutex_unlock(inner);
        pthread_mutex_unlock(outer);
    }
}

void *t1(void *arg) { change(&mu1, &mu2); return arg; }
void *t2(void *arg) { change(&mu2, &mu3); return arg; }
void *t3(void *arg) { change(&mu1, &mu3); return arg; }

int main(void) {
    obj = 0;
    pthread_t a, b, c;
    pthread_create(&a, 0, t1, 0);
    pthread_create(&b, 0, t2, 0);
    pthread_create(&c, 0, t3, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return obj != 6000;
}
