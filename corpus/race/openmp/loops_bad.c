// A histogram whose bins are everybody's.
//@ flags: -O1 -fopenmp
// expect(fast): anything
static int a[1000], bins[8];

int main(void) {
    for (int i = 0; i < 1000; i++) a[i] = i * 7 % 8;
#pragma omp parallel for num_threads(2) schedule(static)
    for (int i = 0; i < 1000; i++) bins[a[i]]++; // expect(hb hybrid): data-race #1
    return bins[0] == 1;
}
