// expect: nothing
//@ flags: -O1 -fopenmp
//@ compilers: gcc
// OpenMP: the same in one critical section, in two regions; a named one, locks of omp.h, an atomic update, a reduction.
#include <assert.h>
#include <omp.h>

int balance, named, locked, nested, counted;
omp_lock_t lock;
omp_nest_lock_t deep;

int main(void) {
    int sum = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&deep);
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
#pragma omp critical
        balance++;
#pragma omp critical(name)
        named++;
        sum += omp_get_thread_num() + 1;
    }
#pragma omp parallel num_threads(2)
    {
        assert(omp_get_num_threads() == 2 && omp_in_parallel() && omp_get_level() == 1);
        while (!omp_test_lock(&lock)) {
#pragma omp taskyield
        }
        locked++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&deep);
        omp_set_nest_lock(&deep);
        nested++;
        omp_unset_nest_lock(&deep);
        omp_unset_nest_lock(&deep);
#pragma omp atomic
        counted++;
    }
    assert(balance == 2 && named == 2 && locked == 2 && nested == 2 && counted == 2 && sum == 3);
    assert(omp_get_num_threads() == 1 && !omp_in_parallel());
    return 0;
}
