// expect: deadlock
//@ always
// The other process gives one item to two consumers, and ends.
// Fails when: always.
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t *items;

static void *consumer(void *arg)
{
    sem_wait(items);                                    // expect: deadlock here
    return arg;
}

int main(void)
{
    pthread_t a, b;
    items = mmap(0, sizeof *items, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(items, 1, 0);
    pid_t child = fork();
    if (child == 0) {
        sem_post(items);
        _exit(0);
    }
    waitpid(child, 0, 0);
    pthread_create(&a, 0, consumer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);                                 // expect: deadlock here
    pthread_join(b, 0);                                 // expect: deadlock here
    return 0;
}
