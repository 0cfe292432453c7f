// A thread that finds a semaphore, shared memory or a message queue by its name comes after the
// thread that made it. `kernel_names_bad.c` is the twin.
// expect: nothing
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int by_semaphore, by_memory;
static char name[64];

static void *make(void *arg) {
    by_semaphore = 1;
    sem_t *semaphore = sem_open(name, O_CREAT, 0600, 0);
    if (semaphore == SEM_FAILED) abort();
    sem_close(semaphore);
    by_memory = 1;
    int memory = shm_open(name, O_CREAT | O_RDWR, 0600);
    if (memory < 0) abort();
    close(memory);
    return arg;
}

int main(void) {
    snprintf(name, sizeof name, "/raddle-names-ok-%d", getpid());
    pthread_t thread;
    pthread_create(&thread, NULL, make, NULL);
    sem_t *semaphore;
    while ((semaphore = sem_open(name, 0)) == SEM_FAILED) usleep(100);
    if (by_semaphore != 1) abort();
    sem_close(semaphore);
    sem_unlink(name);
    int memory;
    while ((memory = shm_open(name, O_RDWR, 0)) < 0) usleep(100);
    if (by_memory != 1) abort();
    close(memory);
    shm_unlink(name);
    pthread_join(thread, NULL);
    return 0;
}
