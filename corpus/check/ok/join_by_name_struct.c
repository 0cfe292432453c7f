// A thread of a library of which only names are known. Its handle is a record, and the join gets the
// same record as the start.
#include <stdlib.h>

struct os_thread {
    void *stack;
    int state;
    char name[16];
};
extern int os_thread_create(struct os_thread *t, const char *name, void *(*f)(void *), void *arg);
extern void os_thread_join(struct os_thread *t);

struct player {
    struct os_thread thread;
    int position;
};

static void *play(void *arg)
{
    struct player *p = arg;
    p->position++;
    return 0;
}

int main(void)
{
    struct player *p = calloc(1, sizeof *p);
    if (!p)
        return 1;
    if (os_thread_create(&p->thread, "player", play, p) != 0) {
        free(p);
        return 1;
    }
    os_thread_join(&p->thread);
    p->position = 0;
    free(p);
    return 0;
}
