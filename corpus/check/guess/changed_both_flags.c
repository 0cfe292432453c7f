// A loop waits until a function that nobody defines has set both flags of an object that two
// threads use. What comes after the loop comes after the change.
#include <library.h>
#include <pthread.h>
#include <stdlib.h>

struct service {
    int is_stopped;
    int has_failed;
    int count;
};

static void *work(void *arg) {
    struct service *s = arg;
    while (!s->is_stopped || !s->has_failed)
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
