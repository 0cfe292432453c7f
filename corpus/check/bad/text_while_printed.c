// A text is printed while it is written.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char status[32] = "idle";

static void *worker(void *arg) {
    strcpy(status, "busy"); // expect: data-race write #1
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    printf("status: %s\n", status); // expect: data-race read #1
    pthread_join(t, NULL);
    return 0;
}
