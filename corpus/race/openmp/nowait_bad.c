// The second loop reads what another thread wrote in the first, which has no barrier at its end. A relaxed counter keeps the first
// thread waiting until the other has written.
//@ flags: -O1 -fopenmp
// expect(fast): anything
#include <omp.h>
#include <stdatomic.h>
#include <unistd.h>

static int a[2], b[2];
static atomic_int written; // relaxed: fixes the order of the run, synchronises nothing

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp for nowait schedule(static, 1)
        for (int i = 0; i < 2; i++) {
            a[i] = i; // expect(hb hybrid): data-race write #1
            atomic_fetch_add_explicit(&written, 1, memory_order_relaxed);
        }
        while (atomic_load_explicit(&written, memory_order_relaxed) < 2) usleep(100);
#pragma omp for schedule(static, 1)
        for (int i = 0; i < 2; i++) b[i] = a[1 - i]; // expect(hb hybrid): data-race read #1
    }
    return b[0] == 7;
}
