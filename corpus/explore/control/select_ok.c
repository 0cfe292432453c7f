// expect: nothing
// select and pselect on a pipe: timeout first, then data, then end of file.
#include <assert.h>
#include <pthread.h>
#include <sys/select.h>
#include <unistd.h>

int ends[2];

void *writer(void *arg) {
    assert(write(ends[1], "x", 1) == 1);
    close(ends[1]);
    return arg;
}

int main(void) {
    assert(pipe(ends) == 0);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timeval wait = {.tv_usec = 2000};
    assert(select(ends[0] + 1, &set, 0, 0, &wait) == 0 && !FD_ISSET(ends[0], &set));
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    char byte;
    for (int expected = 1; expected >= 0; expected--) {
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        assert(pselect(ends[0] + 1, &set, 0, 0, 0, 0) == 1 && FD_ISSET(ends[0], &set));
        assert(read(ends[0], &byte, 1) == expected);
    }
    pthread_join(t, 0);
    return 0;
}
