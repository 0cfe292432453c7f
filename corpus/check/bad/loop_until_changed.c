// A loop waits until a function that nobody defines changes an object that two threads use. What
// comes after the loop comes after the change. Objects that a thread has to itself may change at
// once.
#include <library.h>
#include <pthread.h>
#include <stdlib.h>

struct service {
    int is_stopped;
    int count;
};

struct answer {
    int status;
};

static int total;

static void *work(void *arg) {
    struct service *s = arg;
    while (!s->is_stopped) // expect: data-race #2
        library_run(s);
    s->count++; // expect: data-race #1
    struct answer answer = {-1};
    library_ask(&answer);
    if (answer.status == 0)
        total++; // expect: data-race #3
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct service *s = calloc(1, sizeof *s);
    pthread_create(&thread, NULL, work, s);
    s->count++; // expect: data-race #1
    s->is_stopped = 0; // expect: data-race #2
    struct answer *answer = malloc(sizeof *answer);
    answer->status = -1;
    library_ask(answer);
    if (answer->status == 0)
        total++; // expect: data-race #3
    pthread_join(thread, NULL);
    return 0;
}
