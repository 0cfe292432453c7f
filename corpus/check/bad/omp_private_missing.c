// A temporary that should be private.
int main(void) {
    int data[20], temp;
#pragma omp parallel for
    for (int i = 0; i < 20; i++) {
        temp = i * 2; // expect: data-race write #1
        data[i] = temp; // expect: data-race read #1
    }
    return data[3];
}
