// expect: nothing
// A pipe that is full blocks its writer until the reader makes room.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

int ends[2], capacity;
static char chunk[4096], got[4096];

void *writer(void *arg) {
    for (int sent = 0; sent < capacity + (int)sizeof chunk; sent += sizeof chunk)
        assert(write(ends[1], chunk, sizeof chunk) == sizeof chunk);
    close(ends[1]);
    return arg;
}

int main(void) {
    assert(pipe(ends) == 0);
    capacity = fcntl(ends[1], F_SETPIPE_SZ, 4096);
    assert(capacity >= 4096);
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    int total = 0, n;
    while ((n = read(ends[0], got, sizeof got)) > 0) total += n;
    assert(n == 0 && total == capacity + (int)sizeof chunk);
    pthread_join(t, 0);
    return 0;
}
