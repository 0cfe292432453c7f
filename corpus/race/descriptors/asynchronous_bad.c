// What is done after a transfer was asked for is not ordered with who reads what it has written.
#include <aio.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static int out[2], data;
static struct aiocb writes;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *asks(void *arg) {
    writes.aio_fildes = out[1];
    writes.aio_buf = "x";
    writes.aio_nbytes = 1;
    if (aio_write(&writes)) abort();
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    data++;                                             // expect: data-race #1
    while (aio_error(&writes) == EINPROGRESS) usleep(100);
    return arg;
}

// Two threads touch the variables before the race: `fast` forgets what one alone has touched.
static void *touches(void *arg) {
    data = 0;
    return arg;
}

int main(void) {
    char c;
    pthread_t t;
    pthread_t first;
    if (pthread_create(&first, 0, touches, 0) || pthread_join(first, 0)) return 1;
    data = 0;
    if (pipe(out)) return 1;
    pthread_create(&t, 0, asks, 0);
    if (read(out[0], &c, 1) != 1) abort();
    data++;                                             // expect: data-race #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    pthread_join(t, 0);
    return 0;
}
