// Static initialisers say what kind of mutex they make: one may be taken twice, one returns an error.
#define _GNU_SOURCE
#include <pthread.h>

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int n;

static void *worker(void *arg) {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    n++;
    pthread_mutex_unlock(&recursive);
    n++;
    pthread_mutex_unlock(&recursive);
    pthread_mutex_lock(&checked);
    if (pthread_mutex_lock(&checked) == 0) n = 0;
    pthread_mutex_unlock(&checked);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    worker(NULL);
    pthread_join(t, NULL);
    return n;
}
