// The writer is not told that nobody reads any more: its last write came before.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int shared;
static int ends[2];
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void reached(int n) { atomic_store_explicit(&step, n, memory_order_relaxed); }
static void until(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100);
}

static void *closes(void *arg) {
    until(1);
    shared = 1;                                         // expect: data-race write #1
    close(ends[0]);
    reached(2);
    return arg;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends)) return 1;
    pthread_create(&thread, 0, closes, 0);
    if (write(ends[1], "x", 1) != 1) return 1;
    reached(1);
    until(2);
    int seen = shared;                                  // expect: data-race read #1
    pthread_join(thread, 0);
    return !seen;
}
