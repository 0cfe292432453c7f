// Threads are started in a loop. A start has failed only if it returned a value that nobody
// declares, and then the client is freed that the thread frees otherwise.
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
    c->files++;
    delete_client(c);
    return NULL;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        struct client *c = calloc(1, sizeof *c);
        cups_thread_t thread;
        if ((thread = cupsThreadCreate(run, c)) == CUPS_THREAD_INVALID)
            delete_client(c);
    }
    return 0;
}
