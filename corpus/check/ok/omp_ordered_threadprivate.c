// Each thread counts for itself; the sum is made in the order of the iterations.
#include <omp.h>

static int own;
static int total;
#pragma omp threadprivate(own)

int main(void) {
#pragma omp parallel for ordered
    for (int i = 0; i < 8; i++) {
        own += i;
#pragma omp ordered
        total += i;
    }
    return total;
}
