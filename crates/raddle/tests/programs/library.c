// For an instrumented shared library.
#include <pthread.h>

volatile int of_library;

static void *bump_in_library(void *unused) {
    // Often, because two threads at the very same moment can hide from each other.
    for (int i = 0; i < 100; i++) of_library++;
    return unused;
}

void go(void) {
    pthread_t a, b;
    pthread_create(&a, 0, bump_in_library, 0);
    pthread_create(&b, 0, bump_in_library, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
