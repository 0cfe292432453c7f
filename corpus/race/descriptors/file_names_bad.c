// A file that is there before what it stands for is done.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/raddle_namesXXXXXX";
static char made[64];
int done;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *tell(void *arg) {
    close(open(made, O_CREAT | O_WRONLY, 0600));
    done = 1; // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t thread;
    mkdtemp(folder);
    sprintf(made, "%s/made", folder);
    pthread_create(&thread, 0, tell, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(50);
    if (access(made, F_OK) == 0) done = 2; // expect: data-race write #1
    pthread_join(thread, 0);
    unlink(made), rmdir(folder);
    return 0;
}
