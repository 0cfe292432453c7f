// As the twin in bad/, but the count comes after the join of the thread whose loop ends.
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
            s->count++;
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
    pthread_join(thread, NULL);
    s->count++;
    return 0;
}
