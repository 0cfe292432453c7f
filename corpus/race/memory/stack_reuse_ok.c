// The stack of an ended thread is given to the next; frames come and go over the same addresses, handed to helpers that are
// joined or waited for in time. Large locals, alloca and variable-length arrays. Silent in every mode.
// expect: nothing
#include <alloca.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

struct job { long input, output; sem_t done; };

void *helper(void *arg) {
    struct job *job = arg;
    job->output = job->input * 2;
    sem_post(&job->done);
    return 0;
}

__attribute__((noinline)) static long run(long n) {
    struct job job = {.input = n};
    char scratch[n * 10 + 1], *more = alloca(100);
    memset(scratch, 1, sizeof scratch);
    memset(more, 1, 100);
    sem_init(&job.done, 0, 0);
    pthread_t t;
    pthread_create(&t, 0, helper, &job);
    sem_wait(&job.done); // before the frame goes; the thread itself is joined later
    long result = job.output + scratch[n] - more[99];
    pthread_join(t, 0);
    return result;
}

void *work(void *arg) {
    for (long i = 1; i < 40; i++)
        if (run(i) != 2 * i) abort();
    return arg;
}

int main(void) {
    for (int round = 0; round < 3; round++) {
        pthread_t t[3];
        for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    }
    return 0;
}
