// A comparison reaches past the end of one of its objects. What comes of it is unknown, and nothing races beside it.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char big[4096];
static int equal, different;

static void *compares(void *arg) {
    if (memcmp(big, calloc(8, 1), sizeof big) == 0)
        equal++;
    else
        different++;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, compares, NULL);
    pthread_join(t, NULL);
    equal++;
    different++;
    return 0;
}
