// makecontext and swapcontext: coroutines of one thread share data without locks, since only one runs at a time. Two threads
// do so, each with its own. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

struct scheduler { ucontext_t main, co[2]; char *stack[2]; long shared; };
static _Thread_local struct scheduler *current;

__attribute__((noinline)) static void add(struct scheduler *s, int n) {
    if (n > 0) add(s, n - 1); // some frames on the coroutine's own stack
    s->shared++;
}

static void coroutine(int me) {
    struct scheduler *s = current;
    for (int i = 0; i < 200; i++) {
        add(s, 4);
        swapcontext(&s->co[me], &s->co[1 - me]);
    }
}

void *work(void *arg) {
    struct scheduler s = {.shared = 0};
    current = &s;
    for (int i = 0; i < 2; i++) {
        s.stack[i] = malloc(65536);
        getcontext(&s.co[i]);
        s.co[i].uc_stack.ss_sp = s.stack[i];
        s.co[i].uc_stack.ss_size = 65536;
        s.co[i].uc_link = &s.main;
        makecontext(&s.co[i], (void (*)(void))coroutine, 1, i);
    }
    swapcontext(&s.main, &s.co[0]);
    if (s.shared < 1990) abort();
    for (int i = 0; i < 2; i++) free(s.stack[i]);
    return arg;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
