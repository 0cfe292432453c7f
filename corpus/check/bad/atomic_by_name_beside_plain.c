// The flag is atomic by a library that is not there; the counter beside it is not.
#include <glib.h>
#include <pthread.h>

static int running = 1;
static long counter;

static void *worker(void *arg) {
    while (g_atomic_int_get(&running))
        counter++; // expect: data-race #1
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    counter = 0; // expect: data-race #1
    g_atomic_int_set(&running, 0);
    pthread_join(t, NULL);
    return (int)counter;
}
