// Descriptors that are closed by another thread than the one that used them last: after a join, under a lock, when the
// other end says so; and numbers that stand for another descriptor soon after.
// expect: nothing
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int shared = -1, users, ends[2];

static void use(int fd) {
    char byte;
    if (read(fd, &byte, 1) != 1) abort();
}

// The last of two users closes.
void *counted(void *arg) {
    pthread_mutex_lock(&lock);
    use(shared);
    if (--users == 0) close(shared);
    pthread_mutex_unlock(&lock);
    return arg;
}

// Each descriptor is its thread's own, and the numbers go round.
void *own(void *arg) {
    for (int i = 0; i < 200; i++) {
        int fd = open("/dev/zero", O_RDONLY);
        use(fd);
        close(fd);
    }
    return arg;
}

// The echo says that the worker is done with its end.
void *echo(void *arg) {
    char byte;
    if (read(ends[1], &byte, 1) != 1 || write(ends[1], &byte, 1) != 1) abort();
    return arg;
}

static void two(void *(*f)(void *)) {
    pthread_t a, b;
    pthread_create(&a, 0, f, 0);
    pthread_create(&b, 0, f, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}

int main(void) {
    for (int i = 0; i < 20; i++) {
        shared = open("/dev/zero", O_RDONLY);
        users = 2;
        two(counted);
        two(own);
    }
    char byte = 1;
    pthread_t t;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
    pthread_create(&t, 0, echo, 0);
    if (write(ends[0], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) return 1;
    close(ends[1]);
    close(ends[0]);
    pthread_join(t, 0);
    return 0;
}
