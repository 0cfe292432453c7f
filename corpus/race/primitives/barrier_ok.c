// Barriers over many phases: what any thread wrote before the barrier, any thread may read after it. SIGNAL and WAIT for all,
// so silent in every mode. One thread of each phase gets PTHREAD_BARRIER_SERIAL_THREAD and may touch everything.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

enum { N = 4, PHASES = 200 };
long cells[N], sum;
pthread_barrier_t barrier;

void *work(void *arg) {
    long me = (long)arg;
    for (int p = 0; p < PHASES; p++) {
        cells[(me + p) % N] += 1; // another cell each phase
        int serial = pthread_barrier_wait(&barrier);
        if (serial == PTHREAD_BARRIER_SERIAL_THREAD) {
            sum = 0;
            for (int i = 0; i < N; i++) sum += cells[i];
        }
        pthread_barrier_wait(&barrier);
        if (sum != (p + 1) * N) abort();
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(void) {
    pthread_barrier_init(&barrier, 0, N);
    pthread_t t[N];
    for (long i = 0; i < N; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
    pthread_barrier_destroy(&barrier);
    return 0;
}
