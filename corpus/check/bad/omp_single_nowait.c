// The others do not wait for what one of them sets.
#include <omp.h>

int main(void) {
    int ready = 0, seen[4] = { 0 };
#pragma omp parallel
    {
#pragma omp single nowait
        ready = 5; // expect: data-race write #1
        seen[omp_get_thread_num()] = ready; // expect: data-race read #1
    }
    return seen[1];
}
