// Matches of a regular expression, attributes of locks, what is read from a process: written to memory of
// the caller's.
// expect(fast): nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

static _Alignas(64) regmatch_t matches[2];
static _Alignas(64) int type;
static _Alignas(64) char copy[64];
static regex_t expression;
static pthread_mutexattr_t attribute;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *first(void *arg) {
    matches[0].rm_so = 1; // expect(hb hybrid): data-race write #1
    type = 1; // expect(hb hybrid): data-race write #2
    copy[0] = 1; // expect(hb hybrid): data-race write #3
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg) {
    char text[64] = "text";
    struct iovec to = {copy, sizeof copy}, from = {text, sizeof text};
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(50);
    regexec(&expression, "abc", 2, matches, 0); // expect(hb hybrid): data-race write #1
    pthread_mutexattr_gettype(&attribute, &type); // expect(hb hybrid): data-race write #2
    // Where the kernel forbids it the bytes are written all the same, by hand.
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0) copy[0] = 2; // expect(hb hybrid): data-race write #3
    return arg;
}

int main(void) {
    pthread_t threads[2];
    regcomp(&expression, "b", 0);
    pthread_mutexattr_init(&attribute);
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_join(threads[0], 0), pthread_join(threads[1], 0);
    regfree(&expression);
    return 0;
}
