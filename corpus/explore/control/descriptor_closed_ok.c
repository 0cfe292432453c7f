// expect: nothing
// A thread closes a descriptor that was open before, and changes the folder: the next execution must not find that done.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

int fd;

void *closes(void *arg) {
    assert(close(fd) == 0);
    return arg;
}

void *moves(void *arg) {
    assert(chdir("tmp") == 0);
    return arg;
}

int main(void) {
    pthread_t a, b;
    assert(chdir("/") == 0);
    fd = open("/dev/null", O_RDONLY);
    pthread_create(&a, 0, closes, 0);
    pthread_create(&b, 0, moves, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
