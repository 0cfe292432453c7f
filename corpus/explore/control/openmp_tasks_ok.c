// expect: nothing
//@ flags: -O1 -fopenmp
//@ compilers: gcc
// OpenMP: tasks that are waited for by taskwait, by a group with its grandchildren, by dependences, by the barrier, and a loop of tasks.
#include <assert.h>

int by_wait, grandchild, chain, by_barrier, dealt[3];

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        {
#pragma omp task
            by_wait = 1;
#pragma omp taskwait
            assert(by_wait == 1);
#pragma omp taskgroup
            {
#pragma omp task
                {
#pragma omp task
                    grandchild = 1;
                }
            }
            assert(grandchild == 1);
#pragma omp task depend(out : chain)
            chain = 1;
#pragma omp task depend(inout : chain)
            chain = chain * 2 + 1;
#pragma omp taskwait depend(in : chain)
            assert(chain == 3);
#pragma omp taskloop num_tasks(2)
            for (int i = 0; i < 3; i++) dealt[i]++;
            assert(dealt[0] == 1 && dealt[1] == 1 && dealt[2] == 1);
#pragma omp task
            by_barrier = 1;
        }
        assert(by_barrier == 1);
    }
    return 0;
}
