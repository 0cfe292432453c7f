// expect: nothing
// Results that the C library stores where the caller says, and its trees and tables: one thread after
// the other.
//@ libs: -lm
#define _GNU_SOURCE
#include <dirent.h>
#include <execinfo.h>
#include <math.h>
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <string.h>

_Alignas(64) int exponent;
_Alignas(64) double whole;
_Alignas(64) void *tree;
_Alignas(64) struct hsearch_data table;
_Alignas(64) struct dirent **list;
_Alignas(64) void *frames[8];
static volatile double sink, x = 3.5;
static char *words[] = {"a", "b"};
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

static int nothing(const struct dirent *entry) {
    return entry == NULL;
}

static void *store(void *arg) {
    ENTRY *entry;
    sink = frexp(x, &exponent);
    sink = modf(x, &whole);
    tsearch(words[1], &tree, by_text);
    hsearch_r((ENTRY){.key = words[1]}, ENTER, &entry, &table);
    scandir("/", &list, nothing, NULL);
    sink = backtrace(frames, 4);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    ENTRY *found;
    pthread_t thread;
    tsearch(words[0], &tree, by_text);
    hcreate_r(8, &table);
    // Shared before the calls: `fast` forgets what one thread alone has touched.
    exponent = 2, whole = 2, list = NULL, frames[0] = NULL;
    pthread_create(&thread, NULL, store, NULL);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) {
    }
    pthread_join(thread, NULL);
    exponent = 1;
    whole = 1;
    tfind(words[0], &tree, by_text);
    hsearch_r((ENTRY){.key = words[0]}, FIND, &found, &table);
    list = NULL;
    frames[0] = NULL;
    return 0;
}
