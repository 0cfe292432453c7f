// Table 3, Buffer Broken: a bounded buffer that nothing guards.
#include <pthread.h>

#define SIZE 4
static int items[SIZE];
static int count, in, out;

static void put(int x) {
    while (count == SIZE) // expect: data-race read #1
        sched_yield();
    items[in] = x; // expect: data-race write #2
    in = (in + 1) % SIZE;
    count++; // expect: data-race write #1, data-race read #1
}

static int get(void) {
    while (count == 0) // expect: data-race read #1
        sched_yield();
    int x = items[out]; // expect: data-race read #2
    out = (out + 1) % SIZE;
    count--; // expect: data-race write #1, data-race read #1
    return x;
}

static void *producer(void *arg) {
    for (int i = 0; i < 10; i++)
        put(i);
    return NULL;
}

static void *consumer(void *arg) {
    long sum = 0;
    for (int i = 0; i < 10; i++)
        sum += get();
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
