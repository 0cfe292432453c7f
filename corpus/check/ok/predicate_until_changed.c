// As guess/changed_predicate.c, but the second count comes after the join of the thread whose loop
// ends.
#include <library.h>
#include <pthread.h>
#include <stdlib.h>

struct service {
    int is_stopped;
    int has_failed;
    int count;
};

static int runs(struct service *s) {
    if (s->is_stopped)
        return 0;
    if (s->has_failed)
        return 0;
    return 1;
}

static void *work(void *arg) {
    struct service *s = arg;
    while (runs(s))
        library_run(s);
    s->count++;
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct service *s = calloc(1, sizeof *s);
    pthread_create(&thread, NULL, work, s);
    pthread_join(thread, NULL);
    s->count++;
    return 0;
}
