// expect: nothing
// What threads wait for comes from another process, in memory that it shares: this is no deadlock.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
    sem_t items;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int closed;
};
static struct shared *shared;

static void *consumer(void *arg)
{
    sem_wait(&shared->items);
    pthread_mutex_lock(&shared->mutex);
    while (!shared->closed) pthread_cond_wait(&shared->changed, &shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
    return arg;
}

static void produce(void)
{
    usleep(2000);
    sem_post(&shared->items);
    sem_post(&shared->items);
    usleep(2000);
    pthread_mutex_lock(&shared->mutex);
    shared->closed = 1;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->mutex);
    _exit(0);
}

int main(void)
{
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condition;
    pthread_t a, b;
    int status;
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(&shared->items, 1, 0);
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &of_mutex);
    pthread_condattr_init(&of_condition);
    pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->changed, &of_condition);
    pid_t child = fork();
    if (child == 0) produce();
    pthread_create(&a, 0, consumer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    waitpid(child, &status, 0);
    return status != 0;
}
