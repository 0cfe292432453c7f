//@ flags: -O0 -fopenmp
// Reductions with so many threads that the library adds up in a tree.
// expect: nothing
#include <stdio.h>

int main(void) {
    int sum = 0;
    double product = 1;
#pragma omp parallel for reduction(+ : sum) reduction(* : product) num_threads(8)
    for (int i = 0; i < 100; i++) {
        sum += i;
        product *= 1;
    }
    return sum == 4950 && product == 1 ? 0 : 1;
}
