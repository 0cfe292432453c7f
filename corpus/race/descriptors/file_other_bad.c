// Two files have nothing to do with each other: what is written to one orders nobody who reads the other.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

int data, in, out;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *writer(void *arg) {
    data = 1;                                           // expect: data-race write #1
    if (write(out, "x", 1) != 1) abort();
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *reader(void *arg) {
    char c;
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    if (read(in, &c, 1) != 1) abort();
    data = 2;                                           // expect: data-race write #1
    return arg;
}

int main(void) {
    char name[] = "/tmp/raddle-corpus-XXXXXX", other[] = "/tmp/raddle-corpus-XXXXXX";
    out = mkstemp(name);
    in = mkstemp(other);
    unlink(name);
    unlink(other);
    if (write(in, "y", 1) != 1 || lseek(in, 0, SEEK_SET) != 0) abort();
    data = 0;
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
