// The sum is made in order, but looked at out of it.
#include <omp.h>

static int total;
static int seen[8];

int main(void) {
#pragma omp parallel for ordered
    for (int i = 0; i < 8; i++) {
        seen[i] = total; // expect: data-race read #1
#pragma omp ordered
        total += i; // expect: data-race write #1
    }
    return total;
}
