// Process-shared mutex, condition variable, semaphore and barrier in MAP_SHARED memory, used by parent and child. Each process
// is watched by itself; what matters is that the objects still work across the two. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
    pthread_mutex_t mu;
    pthread_cond_t cv;
    pthread_barrier_t barrier;
    sem_t sem;
    long count, turn;
} *s;

static void work(long me) {
    pthread_barrier_wait(&s->barrier);
    for (int i = 0; i < 300; i++) {
        pthread_mutex_lock(&s->mu);
        while (s->turn != me) pthread_cond_wait(&s->cv, &s->mu);
        s->count++;
        s->turn = 1 - me;
        pthread_cond_broadcast(&s->cv);
        pthread_mutex_unlock(&s->mu);
    }
    if (me == 1) sem_post(&s->sem);
    else sem_wait(&s->sem);
    pthread_barrier_wait(&s->barrier);
}

int main(void) {
    s = mmap(0, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED) return 1;
    pthread_mutexattr_t ma;
    pthread_condattr_t ca;
    pthread_barrierattr_t ba;
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&s->mu, &ma);
    pthread_condattr_init(&ca);
    pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&s->cv, &ca);
    pthread_barrierattr_init(&ba);
    pthread_barrierattr_setpshared(&ba, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&s->barrier, &ba, 2);
    sem_init(&s->sem, 1, 0);
    pid_t child = fork();
    work(child == 0);
    if (child == 0) _exit(0);
    int status;
    waitpid(child, &status, 0);
    return status != 0 || s->count != 600;
}
