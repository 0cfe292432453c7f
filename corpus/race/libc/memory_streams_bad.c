// A stream in memory leaves the address and the size of its text when it is closed; what an obstack holds moves when it grows; a name of the DNS is written out.
// expect(fast): nothing
#define _GNU_SOURCE
#include <netinet/in.h>
#include <arpa/nameser.h>
#include <obstack.h>
#include <pthread.h>
#include <resolv.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

static _Alignas(64) char *text;
static _Alignas(64) size_t size;
static _Alignas(64) wchar_t *wide;
static _Alignas(64) size_t wide_size;
static _Alignas(64) char name[64];
static _Alignas(64) struct obstack stack;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *first(void *arg) {
    size = 1; // expect(hb hybrid): data-race write #1
    wide_size = 1; // expect(hb hybrid): data-race write #2
    name[0] = 1; // expect(hb hybrid): data-race write #3
    stack.chunk_size = 1; // expect(hb hybrid): data-race write #4
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg) {
    static const unsigned char encoded[] = {3, 'a', 'b', 'c', 0};
    FILE *stream = open_memstream(&text, &size);
    FILE *wide_stream = open_wmemstream(&wide, &wide_size);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(50);
    fputs("text", stream);
    fclose(stream); // expect(hb hybrid): data-race write #1
    fputws(L"text", wide_stream);
    fclose(wide_stream); // expect(hb hybrid): data-race write #2
    dn_expand(encoded, encoded + sizeof encoded, encoded, name, sizeof name); // expect(hb hybrid): data-race write #3
    obstack_begin(&stack, 4096); // expect(hb hybrid): data-race write #4
    obstack_free(&stack, 0);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_join(threads[0], 0), pthread_join(threads[1], 0);
    free(text), free(wide);
    return 0;
}
