// A logger with variable arguments counts its lines without a lock.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static long lines;

static void log_line(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    lines++; // expect: data-race write #1, data-race read #1
}

static void *worker(void *arg) {
    log_line("%s %d\n", "hello", 3);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
