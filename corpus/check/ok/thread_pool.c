// A pool of threads with a queue of tasks.
#include <pthread.h>
#include <stdlib.h>

struct task { void (*run)(void *); void *arg; struct task *next; };
static struct task *tasks;
static int stopping;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int results[4];

static void compute(void *arg) {
    int *slot = arg;
    *slot = 7;
}

static void submit(void (*run)(void *), void *arg) {
    struct task *t = malloc(sizeof *t);
    t->run = run;
    t->arg = arg;
    pthread_mutex_lock(&lock);
    t->next = tasks;
    tasks = t;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
}

static void *pool_worker(void *arg) {
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!tasks && !stopping)
            pthread_cond_wait(&more, &lock);
        struct task *t = tasks;
        if (!t) {
            pthread_mutex_unlock(&lock);
            return NULL;
        }
        tasks = t->next;
        pthread_mutex_unlock(&lock);
        t->run(t->arg);
        free(t);
    }
}

int main(void) {
    pthread_t w[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&w[i], NULL, pool_worker, NULL);
    for (int i = 0; i < 4; i++)
        submit(compute, &results[i]);
    pthread_mutex_lock(&lock);
    stopping = 1;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(w[i], NULL);
    return results[0];
}
