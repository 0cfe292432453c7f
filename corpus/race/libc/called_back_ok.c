// Functions that the C library calls with a lock of its own held: those of a stream that was made by
// `fopencookie`, with the stream's lock, and that of `dl_iterate_phdr`, with the loader's.
// `called_back_bad.c` is the twin.
// expect: nothing
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static size_t written;
static int objects;

static ssize_t keep(void *cookie, const char *text, size_t n) {
    (void)cookie, (void)text;
    written += n;
    return n;
}

static int count(struct dl_phdr_info *info, size_t size, void *data) {
    (void)info, (void)size, (void)data;
    objects++;
    return 0;
}

static FILE *stream;

static void *work(void *arg) {
    for (int i = 0; i < 3; i++) {
        fprintf(stream, "line %d\n", i);
        fflush(stream);
        dl_iterate_phdr(count, NULL);
    }
    return arg;
}

int main(void) {
    stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = keep});
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    fclose(stream);
    if (written != 6 * 7 || objects == 0) abort();
    return 0;
}
