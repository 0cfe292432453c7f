// As join_by_name_struct.c, but only the first of two threads is joined.
#include <stdlib.h>

struct os_thread {
    void *stack;
    int state;
    char name[16];
};
extern int os_thread_create(struct os_thread *t, const char *name, void *(*f)(void *), void *arg);
extern void os_thread_join(struct os_thread *t);

static struct os_thread first, second;
static int position, volume;

static void *play(void *arg)
{
    position++;
    return 0;
}

static void *fade(void *arg)
{
    volume--; // expect: data-race #1
    return 0;
}

int main(void)
{
    if (os_thread_create(&first, "player", play, 0) != 0)
        return 1;
    if (os_thread_create(&second, "fader", fade, 0) != 0)
        return 1;
    os_thread_join(&first);
    position = 0;
    volume = 10; // expect: data-race #1
    return 0;
}
