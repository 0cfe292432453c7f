// Tasks that one thread runs use a global of a library that was loaded while the program ran.
#include <dlfcn.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int done; // relaxed: fixes the order of the run, synchronises nothing

int main(int count, char **arguments) {
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : 0;
    if (!library) return 1;
    void (*count_up)(void) = (void (*)(void))dlsym(library, "count_up");
    *(long *)dlsym(library, "count") = 0; // shared before: `fast` forgets what one thread alone has touched
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
            for (int i = 0; i < 20; i++) {
#pragma omp task
                count_up();
            }
#pragma omp taskwait
            atomic_store_explicit(&done, 1, memory_order_relaxed);
        }
        while (!atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
    }
    return 0;
}
