// As the twin in ok/, but the thread counts after its release, and its creator as a reader.
#include <cups/thread.h>
#include <stdlib.h>

struct printer {
    cups_rwlock_t lock;
    int is_active;
    int jobs;
};

static void *run(void *arg) {
    struct printer *p = arg;
    cupsRWLockWrite(&p->lock);
    p->is_active = 1;
    cupsRWUnlock(&p->lock);
    p->jobs++; // expect: data-race #1
    return NULL;
}

int main(void) {
    struct printer *p = calloc(1, sizeof *p);
    cups_thread_t thread;
    if ((thread = cupsThreadCreate(run, p)) == CUPS_THREAD_INVALID) {
        print_error("no thread");
        free(p);
        return 1;
    }
    cupsThreadDetach(thread);
    cupsRWLockRead(&p->lock);
    while (!p->is_active) {
        cupsRWUnlock(&p->lock);
        sleep(1);
        cupsRWLockRead(&p->lock);
    }
    cupsRWUnlock(&p->lock);
    cupsRWLockRead(&p->lock);
    p->jobs++; // expect: data-race #1
    cupsRWUnlock(&p->lock);
    return 0;
}
