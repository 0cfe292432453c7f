// As many workers as somebody asked for, and a barrier for all of them and `run`.
#include <pthread.h>
#include <stdlib.h>

extern int asked_for(const char *what);
static pthread_barrier_t barrier;
static int round_number, rounds = 3;

static void *work(void *arg)
{
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (round_number >= rounds)
            return 0;
        pthread_barrier_wait(&barrier);
    }
}

int main(void)
{
    int n = asked_for("threads");
    if (n < 1 || n > 4)
        return 1;
    pthread_t *threads = calloc(n, sizeof *threads);
    if (!threads)
        return 1;
    pthread_barrier_init(&barrier, 0, n + 1);
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], 0, work, 0) != 0)
            exit(1);
    for (round_number = 0; round_number < rounds; round_number++) {
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], 0);
    free(threads);
    return 0;
}
