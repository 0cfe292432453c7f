// A change in a folder comes before whoever is told of it, but not what its thread does afterwards.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

static char folder[] = "/tmp/raddle-XXXXXX", name[64];
static int data;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *makes(void *arg) {
    data++;
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    data++;                                             // expect: data-race #1
    close(fd);
    return arg;
}

// Two threads touch the variables before the race: `fast` forgets what one alone has touched.
static void *touches(void *arg) {
    data = 0;
    return arg;
}

int main(void) {
    char events[4096];
    if (!mkdtemp(folder)) return 1;
    snprintf(name, sizeof name, "%s/one", folder);
    int watch = inotify_init1(0);
    inotify_add_watch(watch, folder, IN_CREATE);
    pthread_t first;
    if (pthread_create(&first, 0, touches, 0) || pthread_join(first, 0)) return 1;
    data = 0;
    pthread_t t;
    pthread_create(&t, 0, makes, 0);
    if (read(watch, events, sizeof events) <= 0) abort();
    data++;                                             // expect: data-race #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    pthread_join(t, 0);
    unlink(name);
    rmdir(folder);
    return 0;
}
