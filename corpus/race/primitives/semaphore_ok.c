// POSIX semaphores, unnamed and named, by wait, trywait, timedwait and clockwait. A post is a SIGNAL and a completed wait a
// WAIT in every mode: a bounded buffer, and a semaphore that starts at one used as a lock. Silent in every mode.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 4, ITEMS = 1000 };
long buffer[SLOTS], both;
sem_t empty, full, *lock;

static void wait_somehow(sem_t *s, int way) {
    struct timespec real, mono;
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    real.tv_sec += 10;
    mono.tv_sec += 10;
    if (way == 0) while (sem_wait(s) != 0) {}
    if (way == 1) while (sem_trywait(s) != 0) usleep(10);
    if (way == 2 && sem_timedwait(s, &real) != 0) abort();
    if (way == 3 && sem_clockwait(s, CLOCK_MONOTONIC, &mono) != 0) abort();
}

static void count(int way) {
    wait_somehow(lock, way);
    both++;
    sem_post(lock);
}

void *produce(void *arg) {
    for (int i = 0; i < ITEMS; i++) {
        wait_somehow(&empty, i % 4);
        buffer[i % SLOTS] = i;
        sem_post(&full);
        count(i % 4);
    }
    return arg;
}

void *consume(void *arg) {
    for (int i = 0; i < ITEMS; i++) {
        wait_somehow(&full, i / 2 % 4);
        if (buffer[i % SLOTS] != i) abort();
        sem_post(&empty);
        count(i % 4);
    }
    return arg;
}

int main(void) {
    char name[64];
    snprintf(name, sizeof name, "/corpus-semaphore-%d", (int)getpid());
    lock = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    if (lock == SEM_FAILED) return 1;
    sem_unlink(name);
    sem_init(&empty, 0, SLOTS);
    sem_init(&full, 0, 0);
    pthread_t a, b;
    pthread_create(&a, 0, produce, 0);
    pthread_create(&b, 0, consume, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    sem_close(lock);
    return both != 2 * ITEMS;
}
