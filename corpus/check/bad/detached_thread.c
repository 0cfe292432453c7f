// A detached thread is never waited for.
#include <pthread.h>
#include <unistd.h>

static int progress;

static void *background(void *arg) {
    progress = 100; // expect: data-race write #1
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, background, NULL);
    pthread_detach(t);
    sleep(1);
    return progress; // expect: data-race read #1
}
