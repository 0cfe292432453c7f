// A join of which only the name is known says nothing about locks.
#include <pthread.h>

typedef unsigned long os_thread_t;
extern int os_thread_create(os_thread_t *t, void *(*f)(void *), void *arg);
extern int os_thread_join(os_thread_t *t);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs;

static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    jobs++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    os_thread_t t;
    if (os_thread_create(&t, work, 0) != 0)
        return 1;
    os_thread_join(&t);
    pthread_mutex_lock(&lock); // expect: double-lock #1
    jobs = 0;
    pthread_mutex_lock(&lock); // expect: double-lock #1
    return 0;
}
