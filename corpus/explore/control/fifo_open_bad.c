// expect: deadlock
//@ bound: 0
// Two FIFOs, opened in opposite orders: each thread waits in `open` for the other.
// Fails when: always.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char first[64], second[64];

static void *writer(void *arg) {
    int a = open(first, O_WRONLY);                      // expect: deadlock here
    int b = open(second, O_WRONLY);
    close(a);
    close(b);
    return arg;
}

static void *reader(void *arg) {
    int b = open(second, O_RDONLY);                     // expect: deadlock here
    int a = open(first, O_RDONLY);
    close(a);
    close(b);
    return arg;
}

int main(void) {
    snprintf(first, sizeof first, "raddle_first_%d", getpid());
    snprintf(second, sizeof second, "raddle_second_%d", getpid());
    unlink(first), unlink(second);
    if (mkfifo(first, 0600) != 0 || mkfifo(second, 0600) != 0) return 1;
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);
    unlink(first), unlink(second);
    return 0;
}
