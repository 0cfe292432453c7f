// A lock of an open file keeps threads apart that have opened it each for itself: `flock`, and `F_OFD_SETLKW`.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

char name[] = "/tmp/raddle-corpus-XXXXXX";
int by_flock, by_fcntl;

static void lock(int fd, short type) {
    struct flock how = {.l_type = type, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLKW, &how) != 0) abort();
}

void *work(void *arg) {
    int fd = open(name, O_RDWR);
    for (int i = 0; i < 100; i++) {
        if (flock(fd, LOCK_EX) != 0) abort();
        by_flock++;
        flock(fd, LOCK_UN);
        lock(fd, F_WRLCK);
        by_fcntl++;
        lock(fd, F_UNLCK);
    }
    close(fd);
    return arg;
}

int main(void) {
    close(mkstemp(name));
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    unlink(name);
    return by_flock == 300 && by_fcntl == 300 ? 0 : 1;
}
