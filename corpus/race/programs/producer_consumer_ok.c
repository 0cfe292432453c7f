// Producer and consumer over a bounded ring with a mutex and two condition variables. The items are values, copied in and out
// under the mutex, so nothing is handed over but what the lock protects. Silent in every mode.
// expect: nothing
#include <pthread.h>

enum { SLOTS = 8, ITEMS = 1500 };
struct item { int from, number; long payload[4]; };
struct item ring[SLOTS];
int head, tail, filled;
long sum;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;

void *produce(void *arg) {
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&mu);
        while (filled == SLOTS) pthread_cond_wait(&not_full, &mu);
        ring[head] = (struct item){(int)(long)arg, i, {i, i, i, i}};
        head = (head + 1) % SLOTS;
        filled++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&mu);
    }
    return 0;
}

void *consume(void *arg) {
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&mu);
        while (filled == 0) pthread_cond_wait(&not_empty, &mu);
        struct item it = ring[tail];
        tail = (tail + 1) % SLOTS;
        filled--;
        sum += it.payload[2];
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&mu);
    }
    return arg;
}

int main(void) {
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, i % 2 ? consume : produce, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return sum != 2L * (ITEMS - 1) * ITEMS / 2;
}
