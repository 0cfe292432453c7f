// expect: deadlock
//@ flags: -O1 -fopenmp
//@ compilers: gcc
//@ always
// OpenMP: a barrier that one of the two threads never comes to, because it waits for the lock that the other holds there.
#include <omp.h>

omp_lock_t lock;

int main(void) {
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        omp_set_lock(&lock); // expect: deadlock here
#pragma omp barrier // expect: deadlock here
        omp_unset_lock(&lock);
    }
    return 0;
}
