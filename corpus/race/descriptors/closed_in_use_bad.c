// A descriptor that one thread closes while nothing keeps another from using it. In hybrid and fast mode locks order
// nothing, and a use of a descriptor is no access.
// expect(hybrid fast): nothing
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int file, pair[2], gone, replaced;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void reach(int n) { atomic_store_explicit(&step, n, memory_order_relaxed); }
static void await(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100);
}

__attribute__((noinline)) static void read_file(void) {
    char byte;
    if (read(file, &byte, 1) != 1) abort();             // expect(hb): data-race call #1
}

__attribute__((noinline)) static void send_byte(void) {
    if (send(pair[0], "x", 1, 0) != 1) abort();         // expect(hb): data-race call #2
}

__attribute__((noinline)) static void replace(void) {
    if (dup2(pair[1], replaced) != replaced) abort();   // expect(hb): data-race call #4
}

__attribute__((noinline)) static void write_refused(void) {
    if (write(gone, "x", 1) != -1 || errno != EBADF) abort(); // expect(hb): data-race call #3
}

void *work(void *arg) {
    read_file();
    send_byte();
    replace();
    reach(1);
    await(2);
    write_refused();
    return arg;
}

int main(void) {
    file = open("/dev/zero", O_RDONLY);
    gone = open("/dev/null", O_WRONLY);
    replaced = open("/dev/null", O_WRONLY);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    await(1);
    close(file);                                        // expect(hb): data-race call #1
    close(pair[0]);                                     // expect(hb): data-race call #2
    close(gone);                                        // expect(hb): data-race call #3
    close(replaced);                                    // expect(hb): data-race call #4
    reach(2);
    pthread_join(t, 0);
    return 0;
}
