// Blocks go from thread to thread through the allocator, which orders them by its own means: a freed block's past is no race
// with its next owner. malloc, calloc, realloc, aligned_alloc, posix_memalign, strdup, reallocarray; small and large.
// Silent in every mode, hybrid too: the memory is new (section 5's NEW_MEMORY, done by the runtime).
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char *get(int i, size_t n) {
    void *p = 0;
    switch (i % 6) {
    case 0: p = malloc(n); break;
    case 1: p = calloc(n, 1); break;
    case 2: p = aligned_alloc(64, (n + 63) & ~63ul); break;
    case 3: if (posix_memalign(&p, 256, n) != 0) abort(); break;
    case 4: p = realloc(malloc(n / 2 + 1), n); break;
    case 5: p = reallocarray(0, n, 1); break;
    }
    return p;
}

void *work(void *arg) {
    for (int i = 0; i < 2000; i++) {
        size_t n = i % 50 == 0 ? 200000 : 24 + i % 200;
        char *p = get(i, n);
        p[0] = p[n / 2] = p[n - 1] = (char)i;
        if (p[n / 2] != (char)i) abort();
        free(p);
        char *s = strdup("a short string");
        s[3]++;
        free(s);
    }
    return arg;
}

int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
