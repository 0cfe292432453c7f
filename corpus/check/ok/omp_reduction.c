// Reductions, private variables, and one element of an array each.
#include <stdio.h>

int main(void) {
    int sum = 0, i, temp, data[30];
    double product = 1.0;
#pragma omp parallel for private(temp) reduction(+ : sum) reduction(* : product)
    for (i = 0; i < 30; i++) {
        temp = i * 2;
        data[i] = temp;
        sum += temp;
        product *= 1.5;
    }
    printf("%d %f %d\n", sum, product, data[29]);
    return 0;
}
