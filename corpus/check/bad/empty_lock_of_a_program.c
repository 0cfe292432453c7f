// The program starts its threads itself, so its empty lock is empty.
#include <pthread.h>

static int counter, guard;

static inline int counter_lock(int *lock) {
    (void)lock;
    return 0;
}

static inline int counter_unlock(int *lock) {
    (void)lock;
    return 0;
}

static void *work(void *argument) {
    counter_lock(&guard);
    counter++; // expect: data-race #1
    counter_unlock(&guard);
    return argument;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, work, 0);
    pthread_create(&second, 0, work, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return counter;
}
