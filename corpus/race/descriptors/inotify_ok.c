// A change of a file, told by inotify.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

int data, watch, out;

void *writer(void *arg) {
    data = 1;
    if (write(out, "x", 1) != 1) abort();
    return arg;
}

void *reader(void *arg) {
    char events[4096];
    if (read(watch, events, sizeof events) <= 0) abort();
    data = 2;
    return arg;
}

int main(void) {
    char name[] = "/tmp/raddle-corpus-XXXXXX";
    out = mkstemp(name);
    watch = inotify_init1(0);
    if (inotify_add_watch(watch, name, IN_MODIFY) < 0) abort();
    data = 0;
    pthread_t a, b;
    pthread_create(&b, 0, reader, 0);
    pthread_create(&a, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    unlink(name);
    return 0;
}
