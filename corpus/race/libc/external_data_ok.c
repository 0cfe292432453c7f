//@ flags: -O1 -I/usr/include/tirpc
//@ libs: -ltirpc
// Two threads encode one value, which is only read, and decode it, each with a stream of its own.
// expect: nothing
#include <assert.h>
#include <pthread.h>
#include <rpc/rpc.h>
#include <string.h>

static int number = 7;
static char words[] = "words";

static void *work(void *arg) {
    for (int i = 0; i < 100; i++) {
        char room[64], *text = words, back[16], *to = back;
        int read = 0;
        XDR stream;
        xdrmem_create(&stream, room, sizeof room, XDR_ENCODE);
        assert(xdr_int(&stream, &number) && xdr_string(&stream, &text, 16));
        xdr_destroy(&stream);
        xdrmem_create(&stream, room, sizeof room, XDR_DECODE);
        assert(xdr_int(&stream, &read) && xdr_string(&stream, &to, 16));
        xdr_destroy(&stream);
        assert(read == 7 && strcmp(back, "words") == 0);
    }
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
