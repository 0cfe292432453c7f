// A byte in a file tells the reader, which has a descriptor of its own, that the data is there.
// expect: nothing
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int data, in, out;

void *writer(void *arg) {
    data = 1;
    if (write(out, "x", 1) != 1) abort();
    return arg;
}

void *reader(void *arg) {
    char c;
    while (read(in, &c, 1) != 1) usleep(1000);
    data = 2;
    return arg;
}

int main(void) {
    char name[] = "/tmp/raddle-corpus-XXXXXX";
    out = mkstemp(name);
    in = open(name, O_RDONLY);
    unlink(name);
    data = 0;
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
