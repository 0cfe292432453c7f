// Critical sections without a name are one lock, those of one name another; locks of omp.h, plain and nested, and tests of them.
//@ flags: -O1 -fopenmp
// expect: nothing
#include <omp.h>

static int unnamed, named, locked, nested, tested;
static omp_lock_t lock, tried;
static omp_nest_lock_t deep;

static void twice(void) {
    omp_set_nest_lock(&deep);
    nested++;
    omp_unset_nest_lock(&deep);
}

int main(void) {
    omp_init_lock(&lock);
    omp_init_lock(&tried);
    omp_init_nest_lock(&deep);
#pragma omp parallel num_threads(3)
    for (int i = 0; i < 50; i++) {
#pragma omp critical
        unnamed++;
#pragma omp critical(name)
        named++;
        omp_set_lock(&lock);
        locked++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&deep);
        twice();
        nested++;
        omp_unset_nest_lock(&deep);
        if (omp_test_lock(&tried)) {
            tested++;
            omp_unset_lock(&tried);
        }
    }
    omp_destroy_nest_lock(&deep);
    omp_destroy_lock(&tried);
    omp_destroy_lock(&lock);
    return unnamed == 150 && named == 150 && locked == 150 && nested == 300 && tested ? 0 : 1;
}
