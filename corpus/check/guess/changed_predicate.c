// A predicate of the program's own says how long a loop goes on. Only a function that nobody
// defines can end it: no other code sets the flags.
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
    s->count++; // expect: data-race #1
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct service *s = calloc(1, sizeof *s);
    pthread_create(&thread, NULL, work, s);
    s->count++; // expect: data-race #1
    pthread_join(thread, NULL);
    return 0;
}
