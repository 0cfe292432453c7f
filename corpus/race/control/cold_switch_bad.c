// The switch of an unlikely path is put into another section, and its jump table leads back into the
// function: what is written before a label is no write of those who jump to it.
//@ flags: -O2
//@ compilers: gcc
// expect(fast): anything
#include <pthread.h>

static int shared[64];

__attribute__((cold, noinline)) static void is_cold(void) { asm volatile(""); }

#define WORK asm volatile("nop" ::"r"(q));
#define LONG_WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK WORK

__attribute__((noinline)) static void work(volatile int *p, unsigned k, int unlikely, int q) {
    if (__builtin_expect(unlikely, 0)) {
        is_cold();
        switch (k) {
        case 0: goto first;
        case 1: goto second;
        case 2: goto third;
        case 3: goto fourth;
        case 4: goto fifth;
        default: return;
        }
    }
    p[0] = 1;
    if (q == 7) return;
first:
    p[0] = 2; // expect(hb hybrid): data-race write #1
    LONG_WORK
    if (q == 5) return;
    p[8] = 1;
second:
    p[8] = 2;
    LONG_WORK
    p[16] = 1;
third:
    p[16] = 2;
    LONG_WORK
    p[24] = 1;
fourth:
    p[24] = 2;
    LONG_WORK
    p[32] = 1;
fifth:
    p[32] = 2;
    LONG_WORK
}

static void *run(void *p) {
    work(shared, 0, 1, 5);
    return p;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
