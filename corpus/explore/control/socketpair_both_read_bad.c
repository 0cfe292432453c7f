// expect: deadlock
//@ bound: 0
//@ always
// Both ends of a socketpair wait for the other to speak first.
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

int ends[2];

void *peer(void *arg) {
    char byte = 'x';
    int fd = ends[(intptr_t)arg];
    if (read(fd, &byte, 1) != 1) return 0;              // expect: deadlock here
    if (write(fd, &byte, 1) != 1) return 0;
    return arg;
}

int main(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    pthread_t a, b;
    pthread_create(&a, 0, peer, (void *)0);
    pthread_create(&b, 0, peer, (void *)1);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);
    return 0;
}
