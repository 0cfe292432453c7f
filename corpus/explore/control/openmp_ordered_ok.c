// expect: nothing
//@ flags: -O1 -fopenmp
//@ compilers: gcc
// OpenMP: the ordered part of each iteration comes after that of the one before, dealt out as they come and in fixed chunks.
#include <assert.h>

int sequence, fixed;

int main(void) {
#pragma omp parallel for ordered num_threads(2) schedule(dynamic)
    for (int i = 0; i < 4; i++) {
#pragma omp ordered
        {
            assert(sequence == i);
            sequence++;
        }
    }
#pragma omp parallel for ordered num_threads(2) schedule(static, 1)
    for (int i = 0; i < 4; i++) {
#pragma omp ordered
        {
            assert(fixed == i);
            fixed++;
        }
    }
    assert(sequence == 4 && fixed == 4);
    return 0;
}
