// Transfers that the C library does in the background: by aio_write, aio_read and lio_listio, waited for in four ways.
// expect: nothing
#include <aio.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int out[2], in[2], data, answer;
static struct aiocb writes, reads;
static char byte;

static void *asks(void *arg) {
    const struct aiocb *wait[] = {&writes};
    struct aiocb *all[] = {&writes};
    data++;
    writes.aio_fildes = out[1];
    writes.aio_buf = "x";
    writes.aio_nbytes = 1;
    if (aio_write(&writes)) abort();
    while (aio_error(&writes) == EINPROGRESS) aio_suspend(wait, 1, 0);
    if (aio_return(&writes) != 1) abort();

    reads.aio_fildes = in[0];
    reads.aio_buf = &byte;
    reads.aio_nbytes = 1;
    if (aio_read(&reads)) abort();
    while (aio_error(&reads) == EINPROGRESS) usleep(100);
    if (aio_return(&reads) != 1) abort();
    answer++;

    data++;
    writes.aio_lio_opcode = LIO_WRITE;
    if (lio_listio(LIO_WAIT, all, 1, 0) || aio_return(&writes) != 1) abort();
    return arg;
}

int main(void) {
    char c;
    pthread_t t;
    if (pipe(out) || pipe(in)) return 1;
    pthread_create(&t, 0, asks, 0);
    if (read(out[0], &c, 1) != 1) abort();
    data++;
    answer++;
    if (write(in[1], &c, 1) != 1) abort();
    if (read(out[0], &c, 1) != 1) abort();
    data++;
    pthread_join(t, 0);
    return data != 4;
}
