// The functions of two streams of `fopencookie` share a count. Each is called with the lock of its
// own stream only. `cookie_called_back_ok.c` is the twin.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

_Alignas(64) size_t written;

static ssize_t keep(void *cookie, const char *text, size_t n) {
    (void)cookie, (void)text;
    written += n; // expect: data-race write write #1 | read write #1
    return n;
}

static void *work(void *arg) {
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = keep});
    for (int i = 0; i < 3; i++) {
        fprintf(stream, "line %d\n", i);
        fflush(stream);
    }
    fclose(stream);
    return arg;
}

int main(void) {
    written = 0;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%zu\n", written);
    return 0;
}
