// A sum without a reduction.
#include <stdio.h>

int main(void) {
    int sum = 0;
#pragma omp parallel for
    for (int i = 0; i < 30; i++)
        sum += i; // expect: data-race write #1, data-race read #1
    printf("%d\n", sum);
    return 0;
}
