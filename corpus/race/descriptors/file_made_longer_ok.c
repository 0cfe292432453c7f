// A thread that has made a file, and closed it, waits until another has made it longer: by a
// descriptor of its own, by its name, or by reserving room. Making and closing it was no write.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAYS = 4 };
int shared[WAYS];
static int way;
static char name[] = "/tmp/raddle_longer_XXXXXX";

static int make_longer(void) {
    if (way == 0) return truncate(name, 8);
    int fd = open(name, O_RDWR), r;
    if (way == 1) r = ftruncate(fd, 8);
    else if (way == 2) r = posix_fallocate(fd, 0, 8);
    else r = fallocate(fd, 0, 0, 8);
    return r | close(fd);
}

static void *grows(void *arg) {
    shared[way] = 1;
    if (make_longer()) abort();
    return arg;
}

int main(void) {
    close(mkstemp(name));
    for (way = 0; way < WAYS; way++) {
        pthread_t thread;
        struct stat file = {0};
        pthread_create(&thread, 0, grows, 0);
        while (stat(name, &file) == 0 && file.st_size == 0) usleep(100);
        shared[way]++;
        pthread_join(thread, 0);
        unlink(name);
        close(open(name, O_CREAT | O_RDWR, 0600));
    }
    unlink(name);
    return 0;
}
