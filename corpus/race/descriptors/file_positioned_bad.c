// Both threads write to one file, each at its place, and nobody reads it: that orders nothing.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int count, fd;

void *work(void *arg) {
    if (pwrite(fd, "x", 1, arg ? 1 : 0) != 1) abort();
    count++;                                            // expect: data-race write write #1 | read write #1
    return arg;
}

int main(void) {
    count = 0; // shared before: `fast` forgets what one thread alone has touched
    char name[] = "/tmp/raddle-corpus-XXXXXX";
    fd = mkstemp(name);
    unlink(name);
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, name);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
