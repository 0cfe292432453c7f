// The racing function is reached through a table.
#include <pthread.h>

static int state;
static void increment(void) { state++; } // expect: data-race write #1, data-race read #1
static void reset(void) { state = 0; } // expect: data-race write #1
static void (*const actions[])(void) = { increment, reset };

static void *worker(void *arg) {
    actions[(long)arg]();
    return NULL;
}

int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
