// As the twin in ok/, but the creator counts, too, and the client stays.
#include <cups/thread.h>
#include <stdlib.h>

struct client {
    int number;
    int files;
};

static void delete_client(struct client *c) {
    c->files = 0;
    free(c);
}

static void *run(void *arg) {
    struct client *c = arg;
    c->files++; // expect: data-race #1
    return NULL;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        struct client *c = calloc(1, sizeof *c);
        cups_thread_t thread;
        if ((thread = cupsThreadCreate(run, c)) == CUPS_THREAD_INVALID)
            delete_client(c);
        else
            c->files++; // expect: data-race #1
    }
    return 0;
}
