// expect: nothing
// Two threads have the loader call the program, which takes a lock there: each waits for the loader
// until the other is done.
#define _GNU_SOURCE
#include <assert.h>
#include <link.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static int visit(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info, (void)size, (void)unused;
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return 1;
}

static void *in_the_loader(void *unused)
{
    dl_iterate_phdr(visit, 0);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, in_the_loader, 0);
    pthread_create(&b, 0, in_the_loader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(count == 2);
    return 0;
}
