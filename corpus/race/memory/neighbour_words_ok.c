// Words that lie side by side, of which each thread uses its own, and words that both read: one call that announces several
// of them must announce no other, and no read as a write. Silent in every mode.
// expect: nothing
#include <pthread.h>

struct words { long a, b, c, d, e, f; } shared;
long constants[4] = {1, 2, 3, 4};

__attribute__((noinline)) long read_all(long *p) { return p[0] + p[1] * p[2] - p[3]; }

__attribute__((noinline)) void low(struct words *p, long n) {
    p->a = n;
    p->b += n + p->a;
    p->c = p->b;
}

__attribute__((noinline)) void high(struct words *p, long n) {
    p->d = n;
    p->e += n + p->d;
    p->f = p->e;
}

void *first(void *arg) {
    for (int i = 0; i < 500; i++) low(&shared, read_all(constants));
    return arg;
}

void *second(void *arg) {
    for (int i = 0; i < 500; i++) high(&shared, read_all(constants));
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return shared.c == 0 || shared.f == 0;
}
