// expect: assertion
//@ flags: -O1 -fopenmp
//@ compilers: gcc
//@ bound: 1
// OpenMP: reading and writing are two critical sections, so an update can be lost. Each alone is right, and no race detector complains.
// Fails when: one thread reads, the other reads and writes, the first writes.
#include <assert.h>

int balance;

int main(void) {
#pragma omp parallel num_threads(2)
    {
        int seen;
#pragma omp critical
        seen = balance;
        seen++;
#pragma omp critical
        balance = seen;
    }
    assert(balance == 2); // expect: assertion here
    return 0;
}
