// `TRUE` and `FALSE` of a header that is missing are what they are everywhere. A program may use the
// names for something else.
#include <pthread.h>
#include "types.h"

enum { NO, YES };
static int counter, other;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void access_counter(BOOL is_shared) {
    if (is_shared)
        pthread_mutex_lock(&lock);
    counter++; // expect: data-race #1
    if (is_shared)
        pthread_mutex_unlock(&lock);
}

static void access_other(int FALSE) {
    if (FALSE)
        other++; // expect: data-race #2
}

static void *work(void *argument) {
    access_counter(FALSE);
    access_other(YES);
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    access_counter(TRUE);
    access_other(YES);
    pthread_join(thread, 0);
    return 0;
}
