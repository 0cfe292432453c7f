// Two threads that open one FIFO for writing wait for its reader, not for each other.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int by_open, by_stream;
static char name[64];
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *first(void *arg) {
    by_open = 1;                                        // expect: data-race write #1
    by_stream = 1;                                      // expect: data-race write #2
    int fd = open(name, O_WRONLY);
    FILE *stream = fopen(name, "w");
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) < 2) usleep(100);
    fclose(stream);
    close(fd);
    return arg;
}

static void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    int fd = open(name, O_WRONLY);
    int seen = by_open;                                 // expect: data-race read #1
    FILE *stream = fopen(name, "w");
    seen += by_stream;                                  // expect: data-race read #2
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    fclose(stream);
    close(fd);
    return (char *)arg + seen;
}

int main(void) {
    snprintf(name, sizeof name, "/tmp/raddle_writers_%d", getpid());
    by_open = by_stream = 0; // shared before: `fast` forgets what one thread alone has touched
    if (mkfifo(name, 0600) != 0) return 1;
    int reader = open(name, O_RDONLY | O_NONBLOCK);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    close(reader);
    unlink(name);
    return 0;
}
