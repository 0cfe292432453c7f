// A pointer that was followed is not null; one past it is not either.
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int g;
struct cfg { int mode; struct cfg *next; };
extern struct cfg *config(void);

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    g++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    struct cfg *c = config();
    int mode = c->mode;
    if (c) pthread_mutex_lock(&m);
    g += mode;
    if (&c->next) pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
