// Two critical sections of different names do not exclude each other. Each waits, relaxed, until the other has begun, so that two
// threads have them.
//@ flags: -O1 -fopenmp
//@ compilers: gcc
#include <stdatomic.h>
#include <unistd.h>

static int balance;
static atomic_int begun; // relaxed: fixes the order of the run, synchronises nothing

static void together(void) {
    atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
    while (atomic_load_explicit(&begun, memory_order_relaxed) < 2) usleep(100);
}

int main(void) {
    balance = 0; // shared before: `fast` forgets what one thread alone has touched
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
            together();
            for (int i = 0; i < 2000; i++) {
#pragma omp critical(deposit)
                balance++; // expect: data-race #1
            }
        }
#pragma omp section
        {
            together();
            for (int i = 0; i < 2000; i++) {
#pragma omp critical(withdraw)
                balance--; // expect: data-race #1
            }
        }
    }
    return balance == 12345;
}
