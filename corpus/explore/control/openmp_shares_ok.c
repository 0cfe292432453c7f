// expect: nothing
//@ flags: -O1 -fopenmp
//@ compilers: gcc
// OpenMP: work dealt out in each way, every iteration once, whoever gets it; a barrier behind each but nowait.
#include <assert.h>

int hits[8], sequence, once, left, right, unsigned_hits;

static int from_one(void) {
    int value;
#pragma omp single copyprivate(value)
    value = 7;
    return value;
}

int main(void) {
#pragma omp parallel for num_threads(2) schedule(dynamic, 3)
    for (int i = 0; i < 8; i++) hits[i]++;
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(guided) nowait
        for (int i = 7; i >= 0; i -= 2) hits[i]++;
#pragma omp for schedule(runtime)
        for (int i = 0; i < 8; i += 2) hits[i]++;
#pragma omp single
        once++;
#pragma omp sections
        {
#pragma omp section
            left = hits[0];
#pragma omp section
            right = hits[1];
        }
        assert(left == 2 && right == 2 && once == 1);
#pragma omp for schedule(dynamic)
        for (unsigned long i = 0; i < 3; i++) {
#pragma omp atomic
            unsigned_hits++;
        }
        assert(from_one() == 7);
    }
    assert(unsigned_hits == 3);
    return 0;
}
