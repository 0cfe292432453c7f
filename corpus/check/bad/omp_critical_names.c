// Two critical sections of different names guard nothing from each other.
static int shared;

int main(void) {
#pragma omp parallel sections
    {
#pragma omp section
        {
#pragma omp critical(one)
            shared++; // expect: data-race write #1, data-race read #1
        }
#pragma omp section
        {
#pragma omp critical(two)
            shared--; // expect: data-race write #1, data-race read #1
        }
    }
    return shared;
}
