// expect: nothing
// The first thread has the number of the process, and every other one of its own, which the kernel knows.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t numbers[2];
static int count;

static void *work(void *arg)
{
    cpu_set_t processors;
    pid_t mine = gettid();
    assert(sched_getaffinity(mine, sizeof processors, &processors) == 0);
    assert(mine != getpid() && mine == syscall(SYS_gettid));
    pthread_mutex_lock(&mutex);
    numbers[count++] = mine;
    pthread_mutex_unlock(&mutex);
    assert(gettid() == mine);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    assert(gettid() == getpid());
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(numbers[0] != numbers[1] && gettid() == getpid());
    return 0;
}
