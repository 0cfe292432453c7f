// mremap gives back the old addresses and takes new ones, which another thread may just have had: fresh memory, as with mmap.
// Silent in every mode.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

void *work(void *arg) {
    for (int i = 0; i < 200; i++) {
        size_t n = 4096 << (i % 4);
        char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) abort();
        for (size_t k = 0; k < n; k += 512) p[k] = (char)i;
        if (i % 3 == 0) {
            p = mremap(p, n, 2 * n, MREMAP_MAYMOVE);
            n *= 2;
            p[n - 1] = p[0];
        }
        munmap(p, n);
    }
    return arg;
}

int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
