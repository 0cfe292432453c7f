// expect: nothing
// A stream that main has opened is read by one thread and closed: each schedule finds it at its beginning.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static FILE *file;

static void *reads(void *arg) {
    char line[64];
    assert(fgets(line, sizeof line, file) && strncmp(line, "Name:", 5) == 0);
    assert(fclose(file) == 0);
    return arg;
}

static void *nothing(void *arg) { return arg; }

int main(void) {
    file = fopen("/proc/self/status", "r");
    pthread_t a, b;
    pthread_create(&a, 0, reads, 0);
    pthread_create(&b, 0, nothing, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
