// One producer, one consumer, two plain indices.
#include <pthread.h>
#include <stdatomic.h>

#define SIZE 4
static int ring[SIZE];
static unsigned head, tail;

static void *producer(void *arg) {
    for (int i = 0; i < 8; i++) {
        while (head - tail == SIZE) // expect: data-race read #2
            ;
        ring[head % SIZE] = i; // expect: data-race write #3
        head++; // expect: data-race write #1, data-race read #1
    }
    return NULL;
}

static void *consumer(void *arg) {
    long sum = 0;
    for (int i = 0; i < 8; i++) {
        while (head == tail) // expect: data-race read #1
            ;
        sum += ring[tail % SIZE]; // expect: data-race read #3
        tail++; // expect: data-race write #2, data-race read #2
    }
    return (void *)sum;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
