// Queues of blocks under a lock: who takes a block reaches it by the address that another thread stored
// under the same lock, and finds what that thread did to it before. Nobody waits for a condition. fast does not see the
// address where one thread alone had touched the line before. `handed_address_bad.c` is the twin.
// expect(hb hybrid): nothing
// expect(fast): anything
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
    long input, output;
    char text[400];
};

static struct job *jobs[64], *done[64]; // under mu, as all of this
static long first_job, last_job, first, last;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static void put_job(struct job *job) {
    pthread_mutex_lock(&mu);
    jobs[last_job++] = job;
    pthread_mutex_unlock(&mu);
}

static struct job *get_job(void) {
    pthread_mutex_lock(&mu);
    struct job *job = first_job < last_job ? jobs[first_job++] : NULL;
    pthread_mutex_unlock(&mu);
    return job;
}

static void put_done(struct job *job) {
    pthread_mutex_lock(&mu);
    done[last++] = job;
    pthread_mutex_unlock(&mu);
}

static struct job *get_done(void) {
    pthread_mutex_lock(&mu);
    struct job *job = first < last ? done[first++] : NULL;
    pthread_mutex_unlock(&mu);
    return job;
}

static struct job *poll_for(struct job *get(void)) {
    struct job *job;
    while (!(job = get())) usleep(100);
    return job;
}

static void *work(void *arg) {
    for (int i = 0; i < 20; i++) {
        struct job *job = poll_for(get_job);
        job->output = 2 * job->input;
        job->text[399] = 'x';
        put_done(job);
    }
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    long sum = 0;
    for (int i = 0; i < 40; i++) {
        struct job *job = malloc(sizeof *job);
        job->input = i;
        job->text[399] = 0;
        put_job(job);
        if (i % 4 != 3) continue;
        for (int k = 0; k < 4; k++) {
            job = poll_for(get_done);
            sum += job->output + job->text[399];
            free(job);
        }
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return sum != 2 * 780 + 40 * 'x';
}
