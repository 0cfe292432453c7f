// Iterations that hand on to the next: ordered, and ordered by depend (doacross), in one and two dimensions; a value that one
// thread sets for all (copyprivate); threads of the program's own that each have a team.
//@ flags: -O1 -fopenmp
//@ compilers: gcc
// expect: nothing
#include <pthread.h>

static int sequence, line[60], grid[12][12], teams[2];

static int from_one(void) {
    int value;
#pragma omp single copyprivate(value)
    value = sequence;
    return value;
}

static void *team_of_its_own(void *at) {
    int sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += i;
    *(int *)at = sum;
    return 0;
}

int main(void) {
#pragma omp parallel for ordered num_threads(3) schedule(dynamic)
    for (int i = 0; i < 60; i++) {
#pragma omp ordered
        sequence += i;
    }
#pragma omp parallel for ordered(1) num_threads(3) schedule(static, 1)
    for (int i = 1; i < 60; i++) {
#pragma omp ordered depend(sink : i - 1)
        line[i] = line[i - 1] + 1;
#pragma omp ordered depend(source)
    }
#pragma omp parallel for ordered(2) num_threads(3) schedule(static, 1)
    for (int i = 1; i < 12; i++)
        for (int k = 1; k < 12; k++) {
#pragma omp ordered depend(sink : i - 1, k) depend(sink : i, k - 1)
            grid[i][k] = grid[i - 1][k] + grid[i][k - 1] + 1;
#pragma omp ordered depend(source)
        }
    int same = 1;
#pragma omp parallel num_threads(3) reduction(&& : same)
    same = from_one() == 1770;
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, team_of_its_own, &teams[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return sequence == 1770 && line[59] == 59 && same && teams[0] == teams[1] ? 0 : 1;
}
