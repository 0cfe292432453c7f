// The kernel gives the same addresses out again after munmap, to whichever thread asks next: fresh memory each time.
// madvise(MADV_DONTNEED) empties it. Silent in every mode.
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
        if (i % 5 == 0) {
            madvise(p, n, MADV_DONTNEED);
            if (p[0] != 0) abort();
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
