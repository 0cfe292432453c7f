// The result of a start is not used. What is compared with a name that nobody declares is the
// printer's kind, here and in the next function.
#include <cups/thread.h>
#include <stdlib.h>

struct printer {
    int kind;
    int jobs;
    int pages;
};

static void *run(void *arg) {
    struct printer *p = arg;
    p->jobs++; // expect: data-race #1
    p->pages++; // expect: data-race #2
    return NULL;
}

static void start(struct printer *p) {
    cupsThreadCreate(run, p);
}

static void poll_it(int kind, struct printer *p) {
    if (kind == CUPS_KIND_SLOW)
        p->pages++; // expect: data-race #2
}

int main(void) {
    struct printer *p = calloc(1, sizeof *p);
    p->kind = printer_kind();
    start(p);
    if (p->kind == CUPS_KIND_FAST)
        p->jobs++; // expect: data-race #1
    poll_it(p->kind, p);
    return 0;
}
