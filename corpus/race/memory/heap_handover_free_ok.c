// A block allocated in one thread, filled in a second and freed in a third, each time ordered by a semaphore. Silent in every
// mode: a free is a write, and here an ordered one.
// expect: nothing
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

enum { ROUNDS = 300 };
long *mailbox[2];
sem_t full[2], empty[2];

static void put(int box, long *p) {
    sem_wait(&empty[box]);
    mailbox[box] = p;
    sem_post(&full[box]);
}

static long *get(int box) {
    sem_wait(&full[box]);
    long *p = mailbox[box];
    sem_post(&empty[box]);
    return p;
}

void *allocates(void *arg) {
    for (int i = 0; i < ROUNDS; i++) put(0, calloc(16, sizeof(long)));
    return arg;
}

void *fills(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        long *p = get(0);
        for (int k = 0; k < 16; k++) p[k] += i;
        put(1, p);
    }
    return arg;
}

void *frees(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        long *p = get(1);
        if (p[7] != i) abort();
        free(p);
    }
    return arg;
}

int main(void) {
    for (int i = 0; i < 2; i++) {
        sem_init(&full[i], 0, 0);
        sem_init(&empty[i], 0, 1);
    }
    pthread_t t[3];
    pthread_create(&t[0], 0, allocates, 0);
    pthread_create(&t[1], 0, fills, 0);
    pthread_create(&t[2], 0, frees, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
