// A thread that opens a named semaphore with O_CREAT and finds it there has made nothing: whoever opens the semaphore afterwards
// is not ordered after it.
// expect(fast): anything
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static char name[64];
static int ready;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *finds(void *arg) {
    ready = 1; // expect(hb hybrid): data-race write #1
    sem_t *s = sem_open(name, O_CREAT, 0600, 0);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return s == SEM_FAILED ? "failed" : arg;
}

static void *opens(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    sem_t *s = sem_open(name, 0);
    return s == SEM_FAILED || ready != 1 ? "failed" : arg; // expect(hb hybrid): data-race read #1
}

int main(void) {
    snprintf(name, sizeof name, "/raddle-found-%d", (int)getpid());
    if (sem_open(name, O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED) return 2;
    pthread_t a, b;
    void *first, *second;
    pthread_create(&a, 0, finds, 0);
    pthread_create(&b, 0, opens, 0);
    pthread_join(a, &first);
    pthread_join(b, &second);
    sem_unlink(name);
    return first || second;
}
