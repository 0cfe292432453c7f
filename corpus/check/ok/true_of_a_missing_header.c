// `TRUE` and `FALSE` of a header that is missing are what they are everywhere.
#include <pthread.h>
#include "types.h"

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void access_counter(BOOL is_shared) {
    if (is_shared)
        pthread_mutex_lock(&lock);
    counter++;
    if (is_shared)
        pthread_mutex_unlock(&lock);
}

static void *work(void *argument) {
    access_counter(TRUE);
    return argument;
}

int main(void) {
    pthread_t thread;
    access_counter(FALSE);
    pthread_create(&thread, 0, work, 0);
    access_counter(TRUE);
    pthread_join(thread, 0);
    access_counter(FALSE);
    return 0;
}
