// Tasks that nest thousands deep, on one stack: each may take only a little more of it than without raddle.
//@ flags: -O1 -fopenmp
//@ compilers: clang
// expect: nothing
int seen[4001];

static void descend(int n) {
    if (n == 0)
        return;
#pragma omp task firstprivate(n)
    {
        seen[n]++;
        descend(n - 1);
    }
#pragma omp taskwait
}

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    descend(4000);
    return seen[1] == 1 ? 0 : 1;
}
