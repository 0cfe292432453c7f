// A byte at a known place of a file tells each reader, which has a descriptor of its own, that the data is there:
// pwrite and pread, pwritev and preadv, write and pread, copy_file_range and read, streams of single characters.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WAYS = 5 };
char name[WAYS][32];
int data[WAYS];

void put(int way, int fd) {
    struct iovec v = {"x", 1};
    switch (way) {
    case 0: if (pwrite(fd, "x", 1, 7) != 1) abort(); break;
    case 1: if (pwritev(fd, &v, 1, 7) != 1) abort(); break;
    case 2: if (write(fd, "xxxxxxxx", 8) != 8) abort(); break;
    case 3: {
        char source[] = "/tmp/raddle-corpus-XXXXXX";
        int from = mkstemp(source);
        unlink(source);
        loff_t at = 0;
        if (write(from, "x", 1) != 1) abort();
        // Some file systems can not; the byte arrives all the same.
        if (copy_file_range(from, &at, fd, NULL, 1, 0) != 1 && write(fd, "x", 1) != 1) abort();
        close(from);
        break;
    }
    case 4: {
        FILE *f = fdopen(dup(fd), "w");
        setvbuf(f, NULL, _IONBF, 0);
        fputc('x', f);
        fclose(f);
        break;
    }
    }
}

int get(int way, int fd, FILE *f) {
    char c;
    struct iovec v = {&c, 1};
    switch (way) {
    case 1: return preadv(fd, &v, 1, 7) == 1;
    case 3: return read(fd, &c, 1) == 1;
    case 4: clearerr(f); return fgetc(f) != EOF;
    default: return pread(fd, &c, 1, 7) == 1;
    }
}

void *writer(void *arg) {
    for (int way = 0; way < WAYS; way++) {
        int fd = open(name[way], O_WRONLY);
        data[way] = 1;
        put(way, fd);
        // Left open: that it is closed orders too.
    }
    return arg;
}

void *reader(void *arg) {
    for (int way = 0; way < WAYS; way++) {
        int fd = open(name[way], O_RDONLY);
        FILE *f = fdopen(fd, "r");
        while (!get(way, fd, f)) usleep(1000);
        data[way]++;
        fclose(f);
    }
    return arg;
}

int main(void) {
    for (int way = 0; way < WAYS; way++) {
        snprintf(name[way], sizeof name[way], "/tmp/raddle-corpus-XXXXXX");
        close(mkstemp(name[way]));
    }
    pthread_t a, b;
    pthread_create(&b, 0, reader, 0);
    pthread_create(&a, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    for (int way = 0; way < WAYS; way++) unlink(name[way]);
    return 0;
}
