// expect: assertion
//@ bound: 1
// Two calls on one stream are not one: another thread reads between them.
// Fails when: the second reader comes between `rewind` and `fgets`.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static FILE *file;

static void *reads_first_line(void *arg) {
    char line[64];
    rewind(file);
    assert(fgets(line, sizeof line, file));
    assert(strncmp(line, "Name:", 5) == 0);             // expect: assertion here
    return arg;
}

static void *reads_a_line(void *arg) {
    char line[64];
    return fgets(line, sizeof line, file) ? arg : 0;
}

int main(void) {
    file = fopen("/proc/self/status", "r");
    pthread_t a, b;
    pthread_create(&a, 0, reads_first_line, 0);
    pthread_create(&b, 0, reads_a_line, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
