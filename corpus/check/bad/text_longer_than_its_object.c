// A text that is longer than the last object of the simulated memory. The copy ends where the object
// does, and what comes after it is still checked.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char text[60001];
static int count;

static void *work(void *arg) {
    count++; // expect: data-race #1
    return arg;
}

int main(void) {
    pthread_t t;
    memset(text, 'x', 60000);
    char *small = calloc(8, 1);
    strcpy(small, text);
    pthread_create(&t, 0, work, 0);
    count++; // expect: data-race #1
    pthread_join(t, 0);
    return small[0];
}
