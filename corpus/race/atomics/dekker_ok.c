// Dekker's mutual exclusion by seq_cst loads and stores. The winner reads the loser's flag as clear; that load acquires the
// store that cleared it, which is the arc. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int wants[2], turn;
long count;

static void lock(int me) {
    wants[me] = 1;
    while (wants[1 - me]) {
        if (turn != me) {
            wants[me] = 0;
            while (turn != me) sched_yield();
            wants[me] = 1;
        }
    }
}

static void unlock(int me) {
    turn = 1 - me;
    wants[me] = 0;
}

void *work(void *arg) {
    int me = (int)(long)arg;
    for (int i = 0; i < 300; i++) {
        lock(me);
        count++;
        unlock(me);
    }
    return 0;
}

int main(void) {
    count = 0;
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return count != 600;
}
