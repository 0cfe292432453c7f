// volatile does not synchronise threads.
#include <pthread.h>

static volatile int ready;
static int data;

static void *producer(void *arg) {
    data = 42; // expect: data-race write #2
    ready = 1; // expect: data-race write #1
    return NULL;
}

static void *consumer(void *arg) {
    while (!ready) // expect: data-race read #1
        ;
    return (void *)(long)data; // expect: data-race read #2
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
