// A thread raises the count of a module that it has made, and passes the module to a function that
// nobody defines. Another thread frees the module only if its count is 0.
#include <module.h>
#include <pthread.h>
#include <stdlib.h>

struct module_functions {
    void *initialize;
};

struct module {
    struct module_functions functions;
    int uses;
    int state;
    pthread_mutex_t lock;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct module *only;

static void free_unused(void) {
    if (only && only->uses == 0) {
        free(only);
        only = NULL;
    }
}

static void *work(void *arg) {
    pthread_mutex_lock(&lock);
    if (!only)
        only = calloc(1, sizeof *only);
    struct module *m = only;
    m->uses++;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&m->lock);
    module_initialize(&m->functions);
    m->state = 1;
    pthread_mutex_unlock(&m->lock);
    pthread_mutex_lock(&lock);
    m->uses--;
    free_unused();
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
