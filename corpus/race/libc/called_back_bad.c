// Two streams of `fopencookie` share a counter, and each has only its own lock; what the function of
// `dl_iterate_phdr` counts is read without the loader's lock. `called_back_ok.c` is the twin.
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

_Alignas(64) size_t written;
_Alignas(64) int objects;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static ssize_t keep(void *cookie, const char *text, size_t n) {
    (void)cookie, (void)text;
    written += n; // expect: data-race write #1 | read #1
    return n;
}

static int count(struct dl_phdr_info *info, size_t size, void *data) {
    (void)info, (void)size, (void)data;
    objects++; // expect: data-race write #2 | read #2
    return 0;
}

static FILE *streams[2];

static void *first(void *arg) {
    fputs("one\n", streams[0]);
    fflush(streams[0]);
    dl_iterate_phdr(count, NULL);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    fputs("two\n", streams[1]);
    fflush(streams[1]);
    objects = 0; // expect: data-race write #2
    return arg;
}

int main(void) {
    for (int i = 0; i < 2; i++) streams[i] = fopencookie(NULL, "w", (cookie_io_functions_t){.write = keep});
    written = 0, objects = 0;
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    for (int i = 0; i < 2; i++) fclose(streams[i]);
    return 0;
}
