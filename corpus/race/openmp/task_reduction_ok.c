// Reductions over tasks: of a region, of a loop, of a task group. The library finds what is reduced through the data of the region, which
// raddle stands in for.
//@ flags: -O1 -fopenmp
// expect: nothing
static int of_region, of_loop, of_group;

static void region(void) {
#pragma omp parallel reduction(task, + : of_region)
    {
        of_region++;
#pragma omp single
        for (int i = 0; i < 100; i++)
#pragma omp task in_reduction(+ : of_region)
            of_region += 1000;
    }
}

static void loop(void) {
#pragma omp parallel
#pragma omp for reduction(task, + : of_loop)
    for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+ : of_loop)
        of_loop += i;
    }
}

static void group(void) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : of_group)
    for (int i = 0; i < 100; i++)
#pragma omp task in_reduction(+ : of_group)
        of_group += i;
}

int main(void) {
    region();
    loop();
    group();
    return of_region - of_region % 1000 != 100000 || of_loop != 4950 || of_group != 4950;
}
