// expect: nothing
// Real files still work: threads write a temporary file each and read it again; one open fails as it should.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *worker(void *arg) {
    char name[] = "/tmp/raddle-file-XXXXXX", text[6] = "";
    int fd = mkstemp(name);
    assert(fd >= 0 && unlink(name) == 0);
    assert(write(fd, "hello", 5) == 5 && lseek(fd, 0, SEEK_SET) == 0);
    assert(read(fd, text, 5) == 5 && text[4] == 'o');
    close(fd);
    errno = 0;
    assert(open("/nonexistent/file", O_RDONLY) == -1 && errno == ENOENT);
    FILE *self = fopen("/proc/self/exe", "rb");
    char magic[4];
    assert(self && fread(magic, 1, 4, self) == 4 && magic[1] == 'E');
    fclose(self);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
