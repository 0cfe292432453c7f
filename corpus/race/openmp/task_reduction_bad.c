// A task of a reduction writes what its creator writes after it has created the task.
//@ flags: -O1 -fopenmp
// expect(fast): anything
int sum;
int last; // not static: clang would remove what nobody reads

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    {
#pragma omp task in_reduction(+ : sum)
        {
            sum += 6;
            last = 1; // expect(hb hybrid): data-race write #1
        }
        last = 2; // expect(hb hybrid): data-race write #1
    }
    return sum == 6 ? 0 : 1;
}
