// 6.3.1 as in the paper, `v++` in both threads, with nothing to fix the order: a race in every execution and mode.
// gcc reports the read and the write of `v++` apart, clang only the write, so either may be an end.
#include <pthread.h>

int v;

__attribute__((noinline)) void count(void) { v++; }     // expect: data-race write write #1 | read write #1

void *work(void *arg) {
    for (int i = 0; i < 1000; i++) count();
    return arg;
}

int main(void) {
    v = 0;
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
