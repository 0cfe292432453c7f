// A writer that finds room waits for nobody: what the reader did before it read is not ordered.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int shared;
static int ends[2];
static char chunk[100], got[100];
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *reader(void *arg) {
    shared = 1;                                         // expect: data-race write #1
    if (read(ends[0], got, 50) != 50) return 0;
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *writer(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    if (write(ends[1], chunk, sizeof chunk) != sizeof chunk) return 0;
    int seen = shared;                                  // expect: data-race read #1
    return (char *)arg + seen;
}

int main(void) {
    if (pipe(ends) != 0 || write(ends[1], chunk, sizeof chunk) != sizeof chunk) return 1;
    shared = 0;
    pthread_t a, b;
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
