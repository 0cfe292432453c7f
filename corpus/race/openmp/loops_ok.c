// Work shared out in each way that gcc has a call for: regions that are one loop, loops inside a region with the barrier at
// their end, sections, single, master behind a barrier, a reduction, a nested region. The threads wait and wake inside libgomp, by
// system calls that nobody sees; the calls of libgomp alone say what is ordered.
//@ flags: -O1 -fopenmp
// expect: nothing
#include <stdlib.h>

static int a[600], b[600], sum, once, left, right, nested[2][2];

int main(void) {
    for (int round = 0; round < 5; round++) {
#pragma omp parallel for num_threads(3)
        for (int i = 0; i < 600; i++) a[i] = i;
#pragma omp parallel for num_threads(3) schedule(dynamic, 7)
        for (int i = 0; i < 600; i++) b[i] = a[599 - i];
#pragma omp parallel for num_threads(3) schedule(guided) reduction(+ : sum)
        for (int i = 0; i < 600; i++) sum += b[599 - i];
#pragma omp parallel for num_threads(3) schedule(runtime)
        for (int i = 0; i < 600; i++) a[i] = b[599 - i];
#pragma omp parallel num_threads(3)
        {
#pragma omp for schedule(dynamic, 5)
            for (int i = 0; i < 600; i++) a[i] = b[599 - i] + 1;
#pragma omp single
            once = a[round];
#pragma omp for schedule(static, 11)
            for (int i = 0; i < 600; i++) b[i] = a[599 - i] + once;
#pragma omp sections
            {
#pragma omp section
                left = b[1];
#pragma omp section
                right = b[2];
            }
#pragma omp master
            sum += left + right;
#pragma omp barrier
            if (sum < 0) abort();
        }
#pragma omp parallel sections num_threads(2)
        {
#pragma omp section
            left = sum;
#pragma omp section
            right = sum;
        }
#pragma omp parallel num_threads(2)
        {
            int outer = left & 1;
#pragma omp parallel num_threads(2)
            {
#pragma omp critical
                nested[outer][0]++;
            }
        }
    }
    return left == right && nested[left & 1][0] ? 0 : 1;
}
