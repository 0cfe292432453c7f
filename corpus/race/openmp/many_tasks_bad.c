// More tasks than the detector tells apart at a time, all run by one thread: those before a wait do not hide the races of those
// after it, and of many that nothing orders two neighbours still race.
//@ flags: -O1 -fopenmp
#include <stdatomic.h>
#include <unistd.h>

enum { N = 200 };
long before[N], after_wait, neighbours, after_group, after_loop;
static atomic_int done; // relaxed: fixes the order of the run, synchronises nothing

static void many(void) {
    for (int i = 0; i < N; i++) {
#pragma omp task firstprivate(i)
        before[i]++;
    }
}

static void create(void) {
    many();
#pragma omp taskwait
    for (int i = 0; i < N; i++) {
#pragma omp task
        after_wait++; // expect: data-race #1
    }
#pragma omp taskgroup
    many();
    for (int i = 0; i < 4; i++) {
#pragma omp task
        after_group++; // expect: data-race #2
    }
#pragma omp taskwait
#pragma omp taskloop num_tasks(N)
    for (int i = 0; i < N; i++) before[i]++;
    for (int i = 0; i < 2; i++) {
#pragma omp task
        after_loop++; // expect: data-race #3
    }
    for (int i = 0; i < N; i++) {
#pragma omp task firstprivate(i)
        if (i == 150 || i == 151) neighbours++; // expect: data-race #4
    }
#pragma omp taskwait
}

int main(void) {
    after_wait = neighbours = after_group = after_loop = 0; // shared before: `fast` forgets what one thread alone has touched
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
            create();
            atomic_store_explicit(&done, 1, memory_order_relaxed);
        }
        while (!atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
    }
    return after_wait == N && neighbours == 2 ? 0 : 1;
}
