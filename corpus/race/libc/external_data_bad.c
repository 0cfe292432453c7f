//@ flags: -O1 -I/usr/include/tirpc
//@ libs: -ltirpc
// Values that are turned into bytes of a stream, and back, while another thread writes them.
#include <pthread.h>
#include <rpc/rpc.h>
#include <stdatomic.h>
#include <unistd.h>

static _Alignas(64) int sent = 7;
static _Alignas(64) double got;
static _Alignas(64) char words[16] = "words";
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *first(void *arg) {
    sent = 1; // expect: data-race write #1
    got = 1; // expect: data-race write #2
    words[0] = 'w'; // expect: data-race write #3
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg) {
    char room[64] = {0}, *text = words;
    XDR stream;
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(50);
    xdrmem_create(&stream, room, sizeof room, XDR_ENCODE);
    xdr_int(&stream, &sent); // expect: data-race read #1
    xdr_string(&stream, &text, 16); // expect: data-race read #3
    xdr_destroy(&stream);
    xdrmem_create(&stream, room, sizeof room, XDR_DECODE);
    xdr_double(&stream, &got); // expect: data-race write #2
    xdr_destroy(&stream);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    sent = 2, got = 2, words[1] = 'o'; // `fast` ignores the first other thread
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_join(threads[0], 0), pthread_join(threads[1], 0);
    return 0;
}
