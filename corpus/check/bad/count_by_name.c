// The count is below zero, so neither thread is the last one.
#include <glib.h>
#include <pthread.h>

static int references, data;

static void *worker(void *arg) {
    if (!g_atomic_int_dec_and_test(&references))
        data++; // expect: data-race #1
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    if (!g_atomic_int_dec_and_test(&references))
        data++; // expect: data-race #1
    pthread_join(t, NULL);
    return data;
}
