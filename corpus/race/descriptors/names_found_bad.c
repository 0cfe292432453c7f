// Calls that are ready to make or remove a file and find that there is nothing to do: they say
// nothing to whoever looks afterwards.
// expect(fast): anything
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/raddle_foundXXXXXX";
static char there[64], missing[64];
int opened, appended, folded, removed;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *finds(void *arg) {
    opened = 1; // expect(hb hybrid): data-race write #1
    close(open(there, O_CREAT | O_WRONLY, 0600));
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) != 2) usleep(50);
    appended = 1; // expect(hb hybrid): data-race write #2
    fclose(fopen(there, "a"));
    atomic_store_explicit(&step, 3, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) != 4) usleep(50);
    folded = 1; // expect(hb hybrid): data-race write #3
    mkdir(folder, 0700);
    atomic_store_explicit(&step, 5, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) != 6) usleep(50);
    removed = 1; // expect(hb hybrid): data-race write #4
    unlink(missing);
    atomic_store_explicit(&step, 7, memory_order_relaxed);
    return arg;
}

static void *looks(void *arg) {
    while (atomic_load_explicit(&step, memory_order_relaxed) != 1) usleep(50);
    close(open(there, O_CREAT | O_WRONLY, 0600));
    opened = 2; // expect(hb hybrid): data-race write #1
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) != 3) usleep(50);
    if (access(there, F_OK) == 0) appended = 2; // expect(hb hybrid): data-race write #2
    atomic_store_explicit(&step, 4, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) != 5) usleep(50);
    if (mkdir(folder, 0700)) folded = 2; // expect(hb hybrid): data-race write #3
    atomic_store_explicit(&step, 6, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) != 7) usleep(50);
    if (access(missing, F_OK)) removed = 2; // expect(hb hybrid): data-race write #4
    return arg;
}

int main(void) {
    pthread_t threads[2];
    mkdtemp(folder);
    sprintf(there, "%s/there", folder), sprintf(missing, "%s/missing", folder);
    close(creat(there, 0600));
    pthread_create(&threads[0], 0, finds, 0);
    pthread_create(&threads[1], 0, looks, 0);
    pthread_join(threads[0], 0), pthread_join(threads[1], 0);
    unlink(there), rmdir(folder);
    return 0;
}
