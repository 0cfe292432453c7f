// expect: deadlock
//@ bound: 1
// The loader calls the program under a lock of its own, and the program takes its lock there; another
// thread takes the two the other way round.
// Fails when: B takes the lock between A's entering the loader and A's taking the lock.
#define _GNU_SOURCE
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

static int count_file(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info, (void)size, (void)unused;
    count++;
    return 1;
}

static void *in_the_loader(void *unused)
{
    dl_iterate_phdr(visit, 0);
    return unused;
}

static void *with_the_lock(void *unused)
{
    pthread_mutex_lock(&lock);
    dl_iterate_phdr(count_file, 0);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, in_the_loader, 0);
    pthread_create(&b, 0, with_the_lock, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
