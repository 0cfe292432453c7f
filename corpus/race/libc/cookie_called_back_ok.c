// The function of a stream that was made by `fopencookie` counts: the C library calls it with the
// stream's lock held. `cookie_called_back_bad.c` is the twin.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static size_t written;
static FILE *stream;

static ssize_t keep(void *cookie, const char *text, size_t n) {
    (void)cookie, (void)text;
    written += n;
    return n;
}

static void *work(void *arg) {
    for (int i = 0; i < 3; i++) {
        fprintf(stream, "line %d\n", i);
        fflush(stream);
    }
    return arg;
}

int main(void) {
    stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = keep});
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    fclose(stream);
    if (written != 6 * 7) abort();
    return 0;
}
