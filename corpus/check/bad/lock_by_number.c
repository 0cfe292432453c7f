// Locks that are known by number: two numbers are two locks. One behind a pointer hangs on the
// pointer.
#include <pthread.h>
#include <stddef.h>

extern void hw_lock(int number);
extern void hw_unlock(int number);

struct device {
    void (*lock)(int processor);
    void (*unlock)(int processor);
};
extern struct device *first(void);
extern struct device *second(void);

static int shared;
static int count;

static void *work(void *data) {
    hw_lock(1);
    shared++; // expect: data-race #1
    hw_unlock(1);
    struct device *device = first();
    device->lock(0);
    count++; // expect: data-race #2
    device->unlock(0);
    return data;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    hw_lock(2);
    shared++; // expect: data-race #1
    hw_unlock(2);
    struct device *device = second();
    device->lock(0);
    count++; // expect: data-race #2
    device->unlock(0);
    pthread_join(t, NULL);
    return 0;
}
