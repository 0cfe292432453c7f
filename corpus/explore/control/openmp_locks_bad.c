// expect: deadlock
//@ flags: -O1 -fopenmp
//@ compilers: gcc
//@ bound: 1
// OpenMP: two locks of omp.h in opposite orders, in two sections.
// Fails when: each section has its first lock.
#include <omp.h>

omp_lock_t a, b;

int main(void) {
    omp_init_lock(&a);
    omp_init_lock(&b);
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
            omp_set_lock(&a);
            omp_set_lock(&b); // expect: deadlock here
            omp_unset_lock(&b);
            omp_unset_lock(&a);
        }
#pragma omp section
        {
            omp_set_lock(&b);
            omp_set_lock(&a); // expect: deadlock here
            omp_unset_lock(&a);
            omp_unset_lock(&b);
        }
    }
    return 0;
}
