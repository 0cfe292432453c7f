// expect: nothing
// The right twin of c_strtok_bad: each thread keeps its own place.
#include <pthread.h>
#include <string.h>
#include "work.h"

static int parse(char *line) {
    int fields = 0;
    char *place;
    for (char *field = strtok_r(line, ",", &place); field; field = strtok_r(0, ",", &place)) {
        fields++;
        work(1);
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
    return one == 480 && two == 480 ? 0 : 1;
}
