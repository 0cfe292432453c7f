// expect: nothing
// A home-made barrier for two, used for two phases: those who wait look at a generation, not at the count.
#include <pthread.h>

enum { THREADS = 2, PHASES = 2 };
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
int count;
int generation;

static void meet(void) {
    pthread_mutex_lock(&mu);
    int mine = generation;
    if (++count == THREADS) {
        count = 0;
        generation++;
        pthread_cond_broadcast(&all_here);
    } else {
        while (generation == mine) pthread_cond_wait(&all_here, &mu);
    }
    pthread_mutex_unlock(&mu);
}

void *worker(void *arg) {
    for (int i = 0; i < PHASES; i++) meet();
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
