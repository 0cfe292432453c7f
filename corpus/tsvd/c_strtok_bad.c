//@ pair 1: same-location often
//@ pair 2: same-location often
//@ pair 3: same-location often
// strtok keeps its place in a static variable that all threads share.
#include <pthread.h>
#include <string.h>
#include "work.h"

static int parse(char *line) {
    int fields = 0;
    char *field = strtok(line, ",");    // expect: thread-safety-violation write write #1 | write #2
    while (field && fields < 3) {
        fields++;
        work(1);
        field = strtok(0, ",");    // expect: thread-safety-violation write #2 | write write #3
    }
    return fields;
}

static void *reader(void *arg) {
    char line[32];
    for (int i = 0; i < 160; i++) {
        work(2);
        strcpy(line, "ab,cd,ef");
        *(int *)arg += parse(line);
    }
    return 0;
}

int main(void) {
    pthread_t other;
    int one = 0, two = 0;
    pthread_create(&other, 0, reader, &one);
    reader(&two);
    pthread_join(other, 0);
    return one > 0 && two > 0 ? 0 : 1;
}
