// Figure 1: three threads cut into segments by SIGNAL/WAIT pairs, here two semaphores.
//
//     T1: S1 --post(h1)-- S4
//     T2: S2 --wait(h1)-- S5 --post(h2)-- S6
//     T3: S3 --wait(h2)-- S7
//
// S1 < S5 and, as happens-before is transitive, S1 < S7: `ordered` is fine in every mode.
// S4 and S2 have no relation: `unrelated` is a race in every mode. Semaphores are SIGNAL and WAIT
// events, not locks, so hb and hybrid agree. `step` only makes S2 come before S4 in this run.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

int ordered, unrelated;
sem_t h1, h2;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *t1(void *arg) {
    ordered = 1;                                        // S1
    sem_post(&h1);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    unrelated = 4;                                      // S4  // expect: data-race write #1
    return arg;
}

void *t2(void *arg) {
    unrelated = 2;                                      // S2  // expect: data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    sem_wait(&h1);
    ordered = 5;                                        // S5
    sem_post(&h2);
    return arg;
}

void *t3(void *arg) {
    sem_wait(&h2);
    ordered = 7;                                        // S7
    return arg;
}

int main(void) {
    ordered = unrelated = 0; // main touches both first, so fast watches them from the second thread on
    sem_init(&h1, 0, 0);
    sem_init(&h2, 0, 0);
    pthread_t a, b, c;
    pthread_create(&a, 0, t1, 0);
    pthread_create(&b, 0, t2, 0);
    pthread_create(&c, 0, t3, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return ordered != 7;
}
