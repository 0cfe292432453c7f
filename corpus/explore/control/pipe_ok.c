// expect: nothing
// A pipe between two threads: bytes in order, end of file after the last close.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

int ends[2];

void *writer(void *arg) {
    assert(write(ends[1], "ab", 2) == 2);
    assert(write(ends[1], "c", 1) == 1);
    close(ends[1]);
    return arg;
}

int main(void) {
    assert(pipe(ends) == 0);
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    char text[4] = "";
    int length = 0, n;
    while ((n = read(ends[0], text + length, sizeof text - length)) > 0) length += n;
    assert(n == 0 && length == 3 && text[0] == 'a' && text[2] == 'c');
    pthread_join(t, 0);
    return 0;
}
