// expect: output
// The same without the comparison: what another thread has added in between is lost.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int count;

static void *work(void *arg) {
    for (int i = 0; i < 2; i++) {
        int seen = count;
        atomic_store(&count, seen + 1);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("count: %d\n", count);
    return 0;
}
