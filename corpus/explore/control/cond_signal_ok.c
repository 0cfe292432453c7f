// expect: nothing
// Ping-pong of two threads over two condition variables.
#include <assert.h>
#include <pthread.h>

enum { ROUNDS = 2 };
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t pinged = PTHREAD_COND_INITIALIZER, ponged = PTHREAD_COND_INITIALIZER;
int ball, rounds; // 0: ping's turn

void *ping(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mu);
        while (ball != 0) pthread_cond_wait(&ponged, &mu);
        ball = 1;
        pthread_cond_signal(&pinged);
        pthread_mutex_unlock(&mu);
    }
    return arg;
}

void *pong(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mu);
        while (ball != 1) pthread_cond_wait(&pinged, &mu);
        ball = 0;
        rounds++;
        pthread_cond_signal(&ponged);
        pthread_mutex_unlock(&mu);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, ping, 0);
    pthread_create(&b, 0, pong, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(ball == 0 && rounds == ROUNDS);
    return 0;
}
