// The second call of `step` jumps to a place in the first one, which has returned. A real program
// may do anything there. The run ends, and what came before it is reported.
#include <pthread.h>
#include <setjmp.h>

static jmp_buf place;
static int count;

static void *work(void *arg) {
    count++; // expect: data-race #1
    return arg;
}

static int add(int a, int b, int c, int d, int e, int f, int g, int h) {
    return a + b + c + d + e + f + g + h;
}

static int step(int first) {
    if (!first)
        longjmp(place, 1);
    // Seven operands are waiting for the call when the place is set.
    return add(1, 2, 3, 4, 5, 6, 7, setjmp(place));
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    step(1);
    count++; // expect: data-race #1
    step(0);
    pthread_join(t, 0);
    return 0;
}
