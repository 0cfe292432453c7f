// pthread_cancel of threads blocked in pthread_cond_wait, sem_wait, read and pause. The cleanup handler of the condition
// wait runs with the mutex held (POSIX), so its write is protected; the others are read after the join.
// expect: nothing
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
sem_t never;
int pipe_end[2], cancelled;
long notes[4];

static void unlock(void *arg) {
    cancelled++;
    pthread_mutex_unlock(arg);
}
static void note(void *arg) { *(long *)arg = 1; }

void *work(void *arg) {
    long id = (long)arg;
    char byte;
    pthread_cleanup_push(note, &notes[id]);
    if (id == 0) {
        pthread_mutex_lock(&mu);
        pthread_cleanup_push(unlock, &mu);
        for (;;) pthread_cond_wait(&cv, &mu);
        pthread_cleanup_pop(1);
    }
    if (id == 1) sem_wait(&never);
    if (id == 2 && read(pipe_end[0], &byte, 1) < 0) abort();
    if (id == 3) pause();
    pthread_cleanup_pop(0);
    return 0;
}

int main(void) {
    sem_init(&never, 0, 0);
    if (pipe(pipe_end) != 0) return 1;
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
    usleep(20000);
    for (int i = 0; i < 4; i++) pthread_cancel(t[i]);
    pthread_mutex_lock(&mu); // free again: the handler gave it back
    cancelled += 0;
    pthread_mutex_unlock(&mu);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(t[i], &result);
        if (result != PTHREAD_CANCELED || notes[i] != 1) return 2;
    }
    return cancelled != 1;
}
