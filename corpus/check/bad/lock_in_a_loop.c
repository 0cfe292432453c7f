// Each job has a lock that is taken in a loop and released elsewhere; what follows has none.
#include <pthread.h>
#include <stddef.h>

extern int next_job(void);
extern void job_lock(int job);
extern void finish(int job);

static int done;

static void *work(void *data) {
    int job;
    while ((job = next_job()) != 0) {
        job_lock(job);
        finish(job);
    }
    done++; // expect: data-race #1
    return data;
}

void run(void) {
    pthread_t t, u;
    pthread_create(&t, NULL, work, NULL);
    pthread_create(&u, NULL, work, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
}
