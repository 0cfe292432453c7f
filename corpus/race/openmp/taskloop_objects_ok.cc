// Tasks of a loop own C++ objects. The library uses the memory of a task again, in which the destructor of an earlier one has written.
//@ flags: -O1 -fopenmp
//@ compilers: clang
// expect: nothing
struct Object {
    int value;
    Object(int v) : value(v) {}
    Object(const Object &other) : value(other.value + 1) {}
    ~Object() { value = -1; }
};

int sums[40];

int main() {
    Object object(1);
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int round = 0; round < 20; round++) {
#pragma omp taskloop firstprivate(object) nogroup grainsize(5)
        for (int i = 0; i < 40; i++) {
#pragma omp atomic
            sums[i] += object.value > 0;
        }
#pragma omp taskloop nogroup grainsize(5)
        for (int i = 0; i < 40; i++) {
#pragma omp atomic
            sums[i] += 1;
        }
    }
    return sums[39] == 40 ? 0 : 1;
}
