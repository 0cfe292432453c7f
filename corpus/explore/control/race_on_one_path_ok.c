// expect: nothing
//@ monitors: race
// The value is written before the flag that says so, on a path that only some schedules take.
#include <pthread.h>
#include <stdatomic.h>

atomic_int opened;
int value;

void *writer(void *arg) {
    value = 1;
    atomic_store(&opened, 1);
    return arg;
}

void *reader(void *arg) {
    if (atomic_load(&opened)) arg = (char *)arg + value;
    return arg;
}

int main(void) {
    pthread_t r, w;
    pthread_create(&r, 0, reader, 0);
    pthread_create(&w, 0, writer, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
