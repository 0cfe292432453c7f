// setjmp and longjmp out of many frames, a thousand times in each thread; sigsetjmp too. The detector's own call stack must
// shrink with them. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

struct state { jmp_buf plain; sigjmp_buf with_signals; long jumps; };

__attribute__((noinline)) static void deep(struct state *s, int n) {
    if (n > 0) {
        deep(s, n - 1);
        s->jumps += 1000000; // never reached
    }
    if (s->jumps % 2) siglongjmp(s->with_signals, 1);
    longjmp(s->plain, 1);
}

void *work(void *arg) {
    struct state s;
    s.jumps = 0;
    for (volatile int i = 0; i < 1000; i++)
        if (setjmp(s.plain) == 0 && sigsetjmp(s.with_signals, 1) == 0) deep(&s, 30);
        else s.jumps++;
    if (s.jumps != 1000) abort();
    return arg;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
