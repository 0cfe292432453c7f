// Locks of omp.h in opposite orders, by one thread after the other.
//@ flags: -O1 -fopenmp
#include <omp.h>

static omp_lock_t a, b;

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
        if (omp_get_thread_num() == 0) forth();
#pragma omp barrier
        if (omp_get_thread_num() == 1) back();
    }
    return 0;
}
