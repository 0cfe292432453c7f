// Sixteen megabytes split between threads at bounds that are no multiple of a cache line, written and read back by another
// thread after the join. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

enum { N = 4 * 1024 * 1024, T = 3 };
int *array;

static int bound(long i) { return (int)(N / T * i + i * 3); }

void *fill(void *arg) {
    int end = (long)arg == T - 1 ? N : bound((long)arg + 1);
    for (int i = bound((long)arg); i < end; i += 5) array[i] = i;
    return 0;
}

int main(void) {
    array = calloc(N, sizeof *array);
    pthread_t t[T];
    for (long i = 0; i < T; i++) pthread_create(&t[i], 0, fill, (void *)i);
    for (int i = 0; i < T; i++) pthread_join(t[i], 0);
    long sum = 0;
    for (int i = 0; i < N; i += 4096) sum += array[i];
    free(array);
    return sum == 0;
}
