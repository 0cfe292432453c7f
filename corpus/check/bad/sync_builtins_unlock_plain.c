// A home-made lock that is released by a plain store.
#include <pthread.h>

static int word, shared;

static void *worker(void *arg) {
    while (!__sync_bool_compare_and_swap(&word, 0, 1)) // expect: data-race atomic-write #1, data-race atomic-read #1
        ;
    shared++; // expect: data-race write #2, data-race read #2
    word = 0; // expect: data-race write #1
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
