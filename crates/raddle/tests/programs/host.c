// Loads the library that is its argument and calls `go`.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    if (!library) {
        puts(dlerror());
        return 9;
    }
    void (*go)(void);
    *(void **)&go = dlsym(library, "go");
    go();
    return 0;
}
