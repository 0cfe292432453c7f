// One thread runs both sections, which take two locks in opposite orders, since the other comes too
// late.
//@ flags: -O1 -fopenmp
//@ compilers: gcc
#include <omp.h>
#include <stdatomic.h>
#include <unistd.h>

static omp_lock_t a, b;
static atomic_int begun, done; // relaxed: fix the order of the run, synchronise nothing

static void forth(void) {
    omp_set_lock(&a);
    omp_set_lock(&b); // expect: lock-order #1
    omp_unset_lock(&b);
    omp_unset_lock(&a);
}

static void back(void) {
    omp_set_lock(&b);
    omp_set_lock(&a); // expect: lock-order #1
    omp_unset_lock(&a);
    omp_unset_lock(&b);
}

int main(void) {
    omp_init_lock(&a);
    omp_init_lock(&b);
#pragma omp parallel num_threads(2)
    {
        int late = atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
        while (late && !atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
#pragma omp sections
        {
#pragma omp section
            forth();
#pragma omp section
            {
                back();
                atomic_store_explicit(&done, 1, memory_order_relaxed);
            }
        }
    }
    return 0;
}
