// Semaphores of System V: two of one set are two locks, and whoever waits for zero is not ordered with what a thread does
// after it has counted down.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/sem.h>
#include <unistd.h>

static int set;
static long locked, data;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void reached(int n) { atomic_store_explicit(&step, n, memory_order_relaxed); }
static void until(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100);
}

static void *work(void *arg) {
    struct sembuf take = {0, -1, 0}, give = {0, 1, 0}, down = {2, -1, 0};
    if (semop(set, &take, 1)) abort();
    locked++;                                           // expect: data-race #1
    if (semop(set, &give, 1)) abort();
    reached(1);
    until(2);
    if (semop(set, &down, 1)) abort();
    until(3);
    data++;                                             // expect: data-race #2
    return arg;
}

// Two threads touch the variables before the race: `fast` forgets what one alone has touched.
static void *touches(void *arg) {
    locked = data = 0;
    return arg;
}

int main(void) {
    union { int value; struct semid_ds *about; } one = {1};
    set = semget(IPC_PRIVATE, 3, 0600);
    if (set < 0) return 1;
    for (int i = 0; i < 3; i++) if (semctl(set, i, SETVAL, one)) return 1;
    pthread_t first;
    if (pthread_create(&first, 0, touches, 0) || pthread_join(first, 0)) return 1;
    locked = data = 0;
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    until(1);
    struct sembuf take = {1, -1, 0}, give = {1, 1, 0}, zero = {2, 0, 0};
    if (semop(set, &take, 1)) abort();
    locked++;                                           // expect: data-race #1
    if (semop(set, &give, 1)) abort();
    reached(2);
    if (semop(set, &zero, 1)) abort();
    data++;                                             // expect: data-race #2
    reached(3);
    pthread_join(t, 0);
    semctl(set, 0, IPC_RMID);
    return 0;
}
