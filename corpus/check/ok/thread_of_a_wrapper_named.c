// A wrapper whose first argument is a text returns the thread: null would say that it failed.
#include <stddef.h>

struct thread *spawn_thread(const char *name, void (*work)(void *), void *argument);

static int ready;

static void work(void *argument) {
    *(int *)argument = ready;
}

int main(void) {
    static int seen;
    ready = 1;
    struct thread *t = spawn_thread("worker", work, &seen);
    if (t == NULL) {
        ready = 2;
        seen = 3;
    }
    return 0;
}
