// Two threads read one file in several ways and close it, one after the other. Nobody writes it, so
// that orders neither.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int shared;
static char name[] = "/tmp/raddle_both_XXXXXX";
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void reached(int n) { atomic_store_explicit(&step, n, memory_order_relaxed); }
static void until(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100);
}

static void look(void) {
    char text[4];
    int fd = open(name, O_RDONLY);
    if (fd < 0 || read(fd, text, 2) != 2) abort();
    lseek(fd, 0, SEEK_SET);
    close(fd);
    FILE *file = fopen(name, "r");
    if (!file || !fgets(text, sizeof text, file)) abort();
    rewind(file);
    fclose(file);
}

static void *first(void *arg) {
    until(1);
    shared = 2;                                         // expect: data-race write #1
    look();
    reached(2);
    return arg;
}

static void *second(void *arg) {
    reached(1);
    until(2);
    look();
    return (char *)arg + shared;                        // expect: data-race read #1
}

int main(void) {
    shared = 0; // shared before: `fast` forgets what one thread alone has touched
    int fd = mkstemp(name);
    if (fd < 0 || write(fd, "ab\n", 3) != 3) return 1;
    close(fd);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    unlink(name);
    return 0;
}
