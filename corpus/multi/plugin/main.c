// Loads, uses from two threads and unloads a plug-in ten times: silent. Then two threads race inside it, in every mode, and it is
// unloaded before the report is made: its frames must still be named.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static long (*plugin_call)(long);
static void (*plugin_race)(long);
static void *handle;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void load(const char *path) {
    handle = dlopen(path, RTLD_NOW);
    if (!handle) exit(2);
    plugin_call = (long (*)(long))dlsym(handle, "plugin_call");
    plugin_race = (void (*)(long))dlsym(handle, "plugin_race");
}

static void in_two_threads(void *(*f)(void *), void *(*g)(void *)) {
    pthread_t a, b;
    pthread_create(&a, 0, f, 0);
    pthread_create(&b, 0, g, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}

void *use(void *arg) {
    for (int i = 0; i < 100; i++) plugin_call(1);
    return arg;
}

void *first(void *arg) {
    plugin_race(1);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    plugin_race(2);
    return arg;
}

int main(int argc, char **argv) {
    if (argc < 2) return 3;
    for (int i = 0; i < 10; i++) {
        load(argv[1]);
        in_two_threads(use, use);
        if (plugin_call(0) != 200) return 1;
        dlclose(handle);
    }
    load(argv[1]);
    *(long *)dlsym(handle, "raced") = 0;
    in_two_threads(first, second);
    dlclose(handle);
    return 0;
}
