// Locks that are known by number: the same number is the same lock.
#include <pthread.h>
#include <stddef.h>

extern void hw_lock(int number);
extern void hw_unlock(int number);

static int shared;
static int count;

static void *work(void *data) {
    hw_lock(1);
    shared++;
    hw_unlock(1);
    hw_lock(2);
    count++;
    hw_unlock(2);
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    hw_lock(2);
    count++;
    hw_unlock(2);
    hw_lock(1);
    shared++;
    hw_unlock(1);
    pthread_join(t, NULL);
    return 0;
}
