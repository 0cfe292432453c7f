// One thread reads a number into what the other looks at.
#include <pthread.h>
#include <stdio.h>

static int limit;

static void *reader(void *arg) {
    scanf("%*s %d", &limit); // expect: data-race write #1
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, reader, NULL);
    int now = limit; // expect: data-race read #1
    pthread_join(t, NULL);
    return now;
}
