// What a thread writes after it has made a semaphore or shared memory is not handed over by the
// name. `kernel_names_ok.c` is the twin.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

_Alignas(64) int by_semaphore;
_Alignas(64) int by_memory;
static char name[64];
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *make(void *arg) {
    sem_t *semaphore = sem_open(name, O_CREAT, 0600, 0);
    if (semaphore == SEM_FAILED) abort();
    int memory = shm_open(name, O_CREAT | O_RDWR, 0600);
    if (memory < 0) abort();
    by_semaphore = 1; // expect: data-race write #1
    by_memory = 1; // expect: data-race write #2
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    sem_close(semaphore);
    close(memory);
    return arg;
}

int main(void) {
    snprintf(name, sizeof name, "/raddle-names-bad-%d", getpid());
    by_semaphore = 0, by_memory = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, make, NULL);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    sem_t *semaphore = sem_open(name, 0);
    if (semaphore == SEM_FAILED) abort();
    int seen = by_semaphore; // expect: data-race read #1
    int memory = shm_open(name, O_RDWR, 0);
    if (memory < 0) abort();
    seen += by_memory; // expect: data-race read #2
    sem_unlink(name);
    shm_unlink(name);
    sem_close(semaphore);
    pthread_join(thread, NULL);
    close(memory);
    return seen < 0;
}
