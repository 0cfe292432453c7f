// Deep and wide recursion in several threads, up and down again: nothing but call stacks. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

__attribute__((noinline)) static long fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static long dive(long depth, long *path) {
    long here = depth;
    path = depth % 100 ? path : &here;
    return depth == 0 ? *path : dive(depth - 1, path) + (*path >= 0);
}

void *work(void *arg) {
    long zero = 0;
    if (dive(20000, &zero) != 20000 || fibonacci(18) != 2584) abort();
    return arg;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
