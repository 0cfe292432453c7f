// expect: data-race
//@ monitors: race
//@ bound: 0
// A data race on a path that only some schedules take, and that breaks nothing: only the race monitor sees it.
// Fails when: the reader comes after the flag: then it reads the value that the writer is still to write again.
#include <pthread.h>
#include <stdatomic.h>

atomic_int opened;
int value;

void *writer(void *arg) {
    atomic_store(&opened, 1);
    value = 1;                                          // expect: data-race here
    return arg;
}

void *reader(void *arg) {
    if (atomic_load(&opened)) arg = (char *)arg + value; // expect: data-race here
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
