//@ pair 1: same-location often
//@ libs: -lz
// Two threads compress into one zlib stream.
#include <pthread.h>
#include <string.h>
#include <zlib.h>
#include "work.h"

static z_stream stream;

static void feed(const char *text) {
    unsigned char out[256];
    stream.next_in = (unsigned char *)text;
    stream.avail_in = (unsigned)strlen(text);
    stream.next_out = out;
    stream.avail_out = sizeof out;
    deflate(&stream, Z_NO_FLUSH);    // expect: thread-safety-violation write write #1
}

static void *writer(void *arg) {
    for (int i = 0; i < 200; i++) {
        work(*(unsigned *)arg);
        feed("a line of the journal");
    }
    return 0;
}

int main(void) {
    pthread_t other;
    unsigned one = 4, two = 4;
    deflateInit(&stream, 1);
    pthread_create(&other, 0, writer, &one);
    writer(&two);
    pthread_join(other, 0);
    deflateEnd(&stream);
    return 0;
}
