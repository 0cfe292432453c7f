// Barriers made of a mutex and a condition variable, used again and again by three threads: one counts rounds, one turns a sense.
// expect: nothing
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 20 };

struct barrier {
    pthread_mutex_t mu;
    pthread_cond_t cv;
    long arrived, round;
    int sense;
};

static struct barrier by_round = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};
static struct barrier by_sense = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};
static long cells[2][THREADS], ok;

static void wait_for_round(struct barrier *b) {
    pthread_mutex_lock(&b->mu);
    long round = b->round;
    if (++b->arrived == THREADS) {
        b->arrived = 0;
        b->round++;
        pthread_cond_broadcast(&b->cv);
    } else {
        while (b->round == round) pthread_cond_wait(&b->cv, &b->mu);
    }
    pthread_mutex_unlock(&b->mu);
}

static void wait_for_sense(struct barrier *b, int *own) {
    *own = !*own;
    pthread_mutex_lock(&b->mu);
    if (++b->arrived < THREADS) {
        while (b->sense != *own) pthread_cond_wait(&b->cv, &b->mu);
    } else {
        b->arrived = 0;
        b->sense = *own;
        pthread_cond_broadcast(&b->cv);
    }
    pthread_mutex_unlock(&b->mu);
}

static void *work(void *arg) {
    long n = (long)arg, sum = 0;
    int own = 0;
    for (long i = 0; i < ROUNDS; i++) {
        cells[0][n] = i;
        wait_for_round(&by_round);
        cells[1][n] = cells[0][(n + 1) % THREADS];
        wait_for_sense(&by_sense, &own);
        sum += cells[1][(n + 2) % THREADS] == i;
    }
    __atomic_fetch_add(&ok, sum == ROUNDS, __ATOMIC_RELAXED);
    return 0;
}

int main(void) {
    pthread_t t[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    return ok == THREADS ? 0 : 1;
}
