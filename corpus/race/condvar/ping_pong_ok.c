// Two threads take turns through one condition variable. All data is under the mutex: silent in every mode.
// expect: nothing
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
long turn, ball;

void *play(void *arg) {
    long me = (long)arg;
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&mu);
        while (turn != me) pthread_cond_wait(&cv, &mu);
        ball++;
        turn = 1 - me;
        pthread_cond_broadcast(&cv);
        pthread_mutex_unlock(&mu);
    }
    return 0;
}

int main(void) {
    turn = ball = 0;
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, play, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return ball != 1000;
}
