// A comparison reaches past the end of one of its objects. What comes of it is unknown; the race beside it is not.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char big[4096];
static int equal, different;

static void *compares(void *arg) {
    if (memcmp(big, calloc(8, 1), sizeof big) == 0)
        equal++; // expect: data-race #1
    else
        different++; // expect: data-race #2
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, compares, NULL);
    equal++; // expect: data-race #1
    different++; // expect: data-race #2
    pthread_join(t, NULL);
    return 0;
}
