// expect: nothing
//@ libs: -lz
// The right twin of c_zlib_bad: each thread has its own stream.
#include <pthread.h>
#include <string.h>
#include <zlib.h>
#include "work.h"

static void *writer(void *arg) {
    unsigned char out[256];
    const char *text = "a line of the journal";
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    deflateInit(&stream, 1);
    for (int i = 0; i < 200; i++) {
        work(4);
        stream.next_in = (unsigned char *)text;
        stream.avail_in = (unsigned)strlen(text);
        stream.next_out = out;
        stream.avail_out = sizeof out;
        if (deflate(&stream, Z_NO_FLUSH) != Z_OK) *(int *)arg = 1;
    }
    deflateEnd(&stream);
    return 0;
}

int main(void) {
    pthread_t other;
    int one = 0, two = 0;
    pthread_create(&other, 0, writer, &one);
    writer(&two);
    pthread_join(other, 0);
    return one + two;
}
