// Eventfds whose count is full as locks: who adds to it waits until another thread has read.
// expect: nothing
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int by_write, by_call;
static long written, called;

static void *work(void *arg) {
    for (int i = 0; i < 100; i++) {
        uint64_t n = UINT64_MAX - 1;
        if (write(by_write, &n, sizeof n) != sizeof n) abort();
        written++;
        if (read(by_write, &n, sizeof n) != sizeof n) abort();

        if (eventfd_write(by_call, UINT64_MAX - 1) != 0) abort();
        called++;
        if (eventfd_read(by_call, &n) != 0) abort();
    }
    return arg;
}

int main(void) {
    pthread_t t[2];
    by_write = eventfd(0, 0);
    by_call = eventfd(0, 0);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
