// Tasks use the thread-local storage of a library that was loaded while the program ran.
// expect: nothing
#include <dlfcn.h>

int main(int count, char **arguments) {
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : 0;
    if (!library) return 1;
    void (*count_up)(void) = (void (*)(void))dlsym(library, "count_up");
    long *(*buffer)(void) = (long *(*)(void))dlsym(library, "buffer");
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 100; i++) {
#pragma omp task
        count_up();
#pragma omp task firstprivate(i)
        {
            long *own = buffer();
            for (int k = 0; k < 64; k++) own[k] = i + k;
        }
    }
    return 0;
}
