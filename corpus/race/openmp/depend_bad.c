// Both tasks say that they only read, so nothing orders them, and one writes. Each waits, relaxed, until the other has begun, so that two threads have
// them.
//@ flags: -O1 -fopenmp
// expect(fast): anything
#include <stdatomic.h>
#include <unistd.h>

static int shared;
static atomic_int begun; // relaxed: fixes the order of the run, synchronises nothing

static void together(void) {
    atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
    while (atomic_load_explicit(&begun, memory_order_relaxed) < 2) usleep(100);
}

int main(void) {
    int got = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(in : shared)
        {
            together();
            shared = 1; // expect(hb hybrid): data-race write #1
            atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
        }
#pragma omp task depend(in : shared) shared(got)
        {
            together();
            while (atomic_load_explicit(&begun, memory_order_relaxed) < 3) usleep(100);
            got = shared; // expect(hb hybrid): data-race read #1
        }
    }
    return got == 7;
}
