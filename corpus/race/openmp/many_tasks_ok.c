// More tasks than the detector tells apart at a time, in waves that hand over to the next: by a wait, a group, a taskloop, a chain of
// dependences, a barrier, and by tasks that wait for their own.
//@ flags: -O1 -fopenmp
// expect: nothing
enum { N = 200 };
static long a[N], b[N], chained, critical, sums[N];

static void shift(long *from, long *to) {
    for (int i = 0; i < N; i++) {
#pragma omp task firstprivate(i)
        to[i] = from[(i + 1) % N] + 1;
    }
}

static void waves(void) {
    for (int round = 0; round < 3; round++) {
        shift(a, b);
#pragma omp taskwait
#pragma omp taskgroup
        shift(b, a);
#pragma omp taskloop num_tasks(N)
        for (int i = 0; i < N; i++) b[i] = a[N - 1 - i];
        a[round] = b[round]; // the creator's own, between two waves
    }
    for (int i = 0; i < N; i++) {
#pragma omp task depend(inout : chained)
        chained++;
#pragma omp task
        {
#pragma omp critical
            critical++;
        }
    }
}

static void trees(void) {
    for (int i = 0; i < N; i++) {
#pragma omp task firstprivate(i)
        {
            long part = 0;
#pragma omp task shared(part)
            part = i;
#pragma omp taskwait
            sums[i] = part + a[i];
        }
    }
}

int main(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp single
        waves();
#pragma omp barrier
#pragma omp single
        trees();
        for (int i = 0; i < N; i++) {
            if (sums[i] != i + a[i]) __builtin_trap();
        }
    }
    return chained == N && critical == N ? 0 : 1;
}
