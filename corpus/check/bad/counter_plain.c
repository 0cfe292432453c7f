// Two threads count without a lock.
#include <pthread.h>

static int counter;

static void *worker(void *arg) {
    for (int i = 0; i < 100; i++)
        counter++; // expect: data-race write #1, data-race read #1
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
