// expect: nothing
// A page in a writable mapping cannot be read: glibc guards the stacks of threads so since 2.42.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>

#define GUARD_INSTALL 102                                // MADV_GUARD_INSTALL of Linux 6.13

static int *count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *adds(void *arg) {
    pthread_mutex_lock(&mutex);
    int before = *count;
    *count = before + 1;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    char *pages = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    count = (int *)pages;
    *count = 0;
    pages[2 * 4096] = 1;
    // An older kernel has no such pages: then this is an ordinary one.
    madvise(pages + 4096, 4096, GUARD_INSTALL);
    pthread_t a, b;
    pthread_create(&a, 0, adds, 0);
    pthread_create(&b, 0, adds, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(*count == 2);
    return 0;
}
