// A writer comes after the reader that it finds, also if neither waits, and whoever fails to open the FIFO meanwhile.
// expect: nothing
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int for_one, for_other;
static char name[64];
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *reader(void *arg) {
    for_one = for_other = 1;
    int fd = open(name, O_RDONLY | O_NONBLOCK);
    while (atomic_load_explicit(&step, memory_order_relaxed) < 2) usleep(100);
    close(fd);
    return arg;
}

static void *fails(void *arg) {
    open(name, O_RDONLY | O_NONBLOCK | O_DIRECTORY);
    open(name, O_RDONLY | O_NONBLOCK | O_CREAT | O_EXCL, 0600);
    return arg;
}

static void *one(void *arg) {
    int fd = open(name, O_WRONLY);
    for_one++;
    atomic_fetch_add_explicit(&step, 1, memory_order_relaxed);
    close(fd);
    return arg;
}

static void *other(void *arg) {
    int fd;
    while ((fd = open(name, O_WRONLY | O_NONBLOCK)) < 0) usleep(100);
    for_other++;
    atomic_fetch_add_explicit(&step, 1, memory_order_relaxed);
    close(fd);
    return arg;
}

int main(void) {
    snprintf(name, sizeof name, "/tmp/raddle_present_%d", getpid());
    unlink(name);
    if (mkfifo(name, 0600) != 0) return 1;
    void *(*const all[])(void *) = {reader, fails, one, other};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, all[i], 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    unlink(name);
    return 0;
}
