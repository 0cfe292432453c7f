// expect: assertion
//@ bound: 1
// The loader calls a function of the program, in which another thread may come between two steps.
// Fails when: B counts between the load and the store of A.
#define _GNU_SOURCE
#include <assert.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int count;

static int visit(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info, (void)size, (void)unused;
    int seen = count;
    count = seen + 1;
    return 1;
}

static void *in_the_loader(void *unused)
{
    dl_iterate_phdr(visit, 0);
    return unused;
}

static void *elsewhere(void *unused)
{
    count++;
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, in_the_loader, 0);
    pthread_create(&b, 0, elsewhere, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(count == 2);
    return 0;
}
