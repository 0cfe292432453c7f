// A start, known by its name, is compared with a name that nobody declares and that stands for
// success. Then both threads use the printer.
#include <my/thread.h>
#include <stdlib.h>

struct printer {
    int jobs;
};

static void *run(void *arg) {
    struct printer *p = arg;
    p->jobs++; // expect: data-race #1
    return NULL;
}

int main(void) {
    struct printer *p = calloc(1, sizeof *p);
    if (my_thread_create(run, p) == MY_OK)
        p->jobs++; // expect: data-race #1
    return 0;
}
