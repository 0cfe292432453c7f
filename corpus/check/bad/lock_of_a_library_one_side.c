// A lock of a library that is not there, forgotten on one side.
#include <glib.h>
#include <pthread.h>

static GMutex lock;
static int counter;

static void *worker(void *arg) {
    g_mutex_lock(&lock);
    counter++; // expect: data-race write #1, data-race read #1
    g_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    counter++; // expect: data-race write #1, data-race read #1
    pthread_join(t, NULL);
    return counter;
}
