// expect: deadlock
//@ bound: 0
//@ always
// A thread reads from a pipe whose other end is open in this process only, and nobody writes.
#include <pthread.h>
#include <unistd.h>

int ends[2];

void *reader(void *arg) {
    char byte;
    if (read(ends[0], &byte, 1) < 0) return 0;          // expect: deadlock here
    return arg;
}

int main(void) {
    if (pipe(ends)) return 1;
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    pthread_join(t, 0);                                 // expect: deadlock here
    return 0;
}
