// Assembly that reads a clock or pauses orders nothing.
#include <pthread.h>

static int count;

static unsigned ticks(void) {
    unsigned low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
    return low;
}

static void *worker(void *arg) {
    ticks();
    count++; // expect: data-race #1
    __asm__ __volatile__("pause" ::: "memory");
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    ticks();
    __asm__ __volatile__("pause" ::: "memory");
    count++; // expect: data-race #1
    pthread_join(t, NULL);
    return count;
}
