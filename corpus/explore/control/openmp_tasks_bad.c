// expect: assertion
//@ flags: -O1 -fopenmp
//@ compilers: gcc
// OpenMP: taskwait waits for children, not for their children.
// Fails when: the grandchild is still to run, or runs in another thread, when taskwait returns.
#include <assert.h>
#include <stdatomic.h>

atomic_int result;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        {
#pragma omp task
            result = 1;
        }
#pragma omp taskwait
        assert(result == 1); // expect: assertion here
    }
    return 0;
}
