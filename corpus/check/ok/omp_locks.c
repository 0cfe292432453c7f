// OpenMP's own locks, and firstprivate copies.
#include <omp.h>

int main(void) {
    omp_lock_t lock;
    int total = 0, base = 10;
    omp_init_lock(&lock);
#pragma omp parallel firstprivate(base) num_threads(2)
    {
        base += omp_get_thread_num();
        omp_set_lock(&lock);
        total += base;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return total;
}
