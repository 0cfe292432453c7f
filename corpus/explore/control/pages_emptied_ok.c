// expect: nothing
// madvise empties a page that nobody reads any more.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>

static int *page;

static void *reads(void *arg) {
    assert(*page == 1);
    return arg;
}

int main(void) {
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 1;
    pthread_t a, b;
    pthread_create(&a, 0, reads, 0);
    pthread_create(&b, 0, reads, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    madvise(page, 4096, MADV_DONTNEED);
    assert(*page == 0);
    return 0;
}
