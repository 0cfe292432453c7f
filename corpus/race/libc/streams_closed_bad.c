// A stream and a folder that are closed while another thread may still use them. In hybrid and fast
// mode, where locks order nothing, this is left out.
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static FILE *file;
static DIR *folder;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
// expect(hybrid fast): nothing

static void *use(void *arg) {
    fputs("text", file); // expect(hb): data-race #1
    readdir(folder); // expect(hb): data-race #2
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t thread;
    file = fopen("/dev/null", "w");
    folder = opendir("/");
    pthread_create(&thread, 0, use, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(50);
    fclose(file); // expect(hb): data-race #1
    closedir(folder); // expect(hb): data-race #2
    pthread_join(thread, 0);
    return 0;
}
