// Who takes the last reference away is alone with the data.
#include <glib.h>
#include <pthread.h>

static int references = 2, data;

static void *worker(void *arg) {
    if (g_atomic_int_dec_and_test(&references))
        data++;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    if (g_atomic_int_dec_and_test(&references))
        data++;
    pthread_join(t, NULL);
    return data;
}
