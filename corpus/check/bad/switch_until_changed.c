// A switch in a loop waits for a state that only a function that nobody defines can set.
#include <library.h>
#include <pthread.h>
#include <stdlib.h>

enum state { RUNS, ENDS, FAILS };

struct service {
    enum state state;
    int count;
};

static void *work(void *arg) {
    struct service *s = arg;
    for (;;) {
        library_run(s);
        switch (s->state) {
        case RUNS:
            continue;
        case ENDS:
            s->count++; // expect: data-race #1
            return NULL;
        case FAILS:
            return s;
        }
    }
}

int main(void) {
    pthread_t thread;
    struct service *s = calloc(1, sizeof *s);
    pthread_create(&thread, NULL, work, s);
    s->count++; // expect: data-race #1
    pthread_join(thread, NULL);
    return 0;
}
