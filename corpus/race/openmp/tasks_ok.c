// Tasks that are waited for in each way there is: taskwait, a group, the barrier, dependences, a loop of tasks, recursion.
//@ flags: -O1 -fopenmp
// expect: nothing
#include <stdlib.h>

static int a[400], in_group, by_barrier, chain, read_by[3];

static long fib(int n) {
    long x, y;
    if (n < 2) return n;
#pragma omp task shared(x)
    x = fib(n - 1);
#pragma omp task shared(y)
    y = fib(n - 2);
#pragma omp taskwait
    return x + y;
}

static void groups(void) {
#pragma omp taskgroup
    {
#pragma omp task
        {
#pragma omp task
            in_group = 1; // a grandchild: taskwait would not wait for it
        }
    }
    in_group++;
}

static void dependences(void) {
    for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : chain)
        chain++;
        for (int k = 0; k < 3; k++) {
#pragma omp task depend(in : chain) depend(out : read_by[k]) firstprivate(k)
            read_by[k] = chain;
        }
    }
#pragma omp taskwait depend(in : chain)
    if (chain != 20) abort();
#pragma omp taskwait
}

int main(void) {
    long f = 0;
#pragma omp parallel num_threads(3)
    {
#pragma omp single
        {
            f = fib(10);
            groups();
            dependences();
#pragma omp task
            by_barrier = 1;
        }
        if (!by_barrier) abort();
#pragma omp single
        {
#pragma omp taskloop grainsize(10)
            for (int i = 0; i < 400; i++) a[i] = i;
            for (int i = 0; i < 400; i++) a[i]++;
#pragma omp taskloop grainsize(10) nogroup
            for (int i = 0; i < 400; i++) a[i]++;
#pragma omp taskwait
            a[0]++;
        }
    }
    return f == 55 && in_group == 2 && read_by[0] == 20 && a[0] == 3 ? 0 : 1;
}
