// expect: assertion
//@ bound: 1
//@ flags: -O0
// madvise empties pages, as if it wrote zeros to all of them.
// Fails when: the page is emptied between the two reads.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>

static int *page;

static void *empties(void *arg) {
    madvise(page, 4096, MADV_DONTNEED);
    return arg;
}

static void *reads(void *arg) {
    int before = *page;
    int after = *page;
    assert(before == after);                            // expect: assertion here
    return arg;
}

int main(void) {
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 1;
    pthread_t a, b;
    pthread_create(&a, 0, empties, 0);
    pthread_create(&b, 0, reads, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
