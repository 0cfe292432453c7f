// nowait takes away the barrier that the second loop needs.
static int a[12], b[12];

int main(void) {
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < 12; i++)
            a[i] = i; // expect: data-race write #1
#pragma omp for
        for (int i = 0; i < 12; i++)
            b[i] = a[11 - i]; // expect: data-race read #1
    }
    return b[0];
}
