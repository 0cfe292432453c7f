// All tasks of a loop add to one variable. One thread runs all of them.
//@ flags: -O0 -fopenmp
// expect(fast): anything
#include <stdatomic.h>
#include <unistd.h>

static int sum;
static atomic_int done; // relaxed: fixes the order of the run, synchronises nothing

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
#pragma omp taskloop num_tasks(4)
            for (int i = 0; i < 100; i++) sum += i; // expect(hb hybrid): data-race #1
            atomic_store_explicit(&done, 1, memory_order_relaxed);
        }
        while (!atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
    }
    return sum == 7;
}
