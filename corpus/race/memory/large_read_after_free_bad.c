// A block too large to be held back, read after another thread has freed it: the report still says what it was.
// `fast` forgets what one thread alone has touched.
// expect(fast): nothing
//@ golden
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static long *block, *above;
static atomic_int freed; // relaxed: fixes the order of the run, synchronises nothing

static void *reader(void *arg) {
    while (!atomic_load_explicit(&freed, memory_order_relaxed)) usleep(100);
    arg = (char *)arg + block[2];                       // expect(hb hybrid): data-race read #1
    return arg;
}

int main(void) {
    block = calloc(10000, sizeof *block); // less than what malloc takes from the system for itself
    above = calloc(10, sizeof *above);    // keeps the heap from shrinking
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    free(block);                                        // expect(hb hybrid): data-race free #1
    atomic_store_explicit(&freed, 1, memory_order_relaxed);
    pthread_join(t, 0);
    free(above);
    return 0;
}
