// Threads hand over by the length of a file: one makes it longer, another asks in one of several ways how long it is until it has
// grown. What the first did before comes first.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAYS = 5 };
int shared[WAYS];
static int way, fd, reads;
static char name[] = "/tmp/raddle_size_XXXXXX";

static long length(void) {
    struct stat file;
    struct statx more;
    switch (way) {
    case 0: return fstat(reads, &file) == 0 ? file.st_size : -1;
    case 1: return stat(name, &file) == 0 ? file.st_size : -1;
    case 2: return lseek(reads, 0, SEEK_END);
    case 3: return statx(reads, "", AT_EMPTY_PATH, STATX_SIZE, &more) == 0 ? (long)more.stx_size : -1;
    default: return fstatat(AT_FDCWD, name, &file, 0) == 0 ? file.st_size : -1;
    }
}

static void *grows(void *arg) {
    shared[way] = 1;
    if (way % 2 ? ftruncate(fd, 8) != 0 : pwrite(fd, "x", 1, 0) != 1) abort();
    return arg;
}

static void *looks(void *arg) {
    while (length() == 0) usleep(100);
    shared[way]++;
    return arg;
}

int main(void) {
    fd = mkstemp(name);
    reads = open(name, O_RDONLY);
    if (fd < 0 || reads < 0) return 1;
    for (way = 0; way < WAYS; way++) {
        pthread_t a, b;
        if (ftruncate(fd, 0) != 0) return 1;
        pthread_create(&a, 0, grows, 0);
        pthread_create(&b, 0, looks, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
    }
    unlink(name);
    return 0;
}
