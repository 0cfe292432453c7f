// Phases with a barrier between them.
#include <pthread.h>

#define N 3
static pthread_barrier_t barrier;
static int cells[N], sums[N];

static void *worker(void *arg) {
    long id = (long)arg;
    cells[id] = id + 1;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < N; i++)
        sums[id] += cells[i];
    return NULL;
}

int main(void) {
    pthread_t t[N];
    pthread_barrier_init(&barrier, NULL, N);
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    pthread_barrier_destroy(&barrier);
    return sums[0];
}
