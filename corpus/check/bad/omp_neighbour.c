// An iteration reads what another writes.
static int a[32];

int main(void) {
#pragma omp parallel for
    for (int i = 1; i < 32; i++)
        a[i] = a[i - 1] + 1; // expect: data-race write #1, data-race read #1
    return a[31];
}
