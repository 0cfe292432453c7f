// Words that lie side by side, read or written one after the other in straight code: one call may announce them all. Each
// race is still reported, on its own word and at its own line, as the earlier end and as the later one. Every mode reports
// all four.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct words { long a, b, c, d; } early, late, written, rewritten;
long sum;
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

__attribute__((noinline)) long read_early(struct words *p) {
    long n = p->a;
    n += p->b;
    n += p->c;                                          // expect: data-race read #1
    n += p->d;
    return n;
}

__attribute__((noinline)) long read_late(struct words *p) {
    long n = p->a;
    n += p->b;                                          // expect: data-race read #2
    n += p->c;
    return n;
}

__attribute__((noinline)) void write_early(struct words *p, long n) {
    p->b = n;
    p->c = n;
    p->d = n;                                           // expect: data-race write #3
}

__attribute__((noinline)) void write_late(struct words *p, long n) {
    p->a = n;
    p->b = n;                                           // expect: data-race write #4
    p->c = n;
}

void *first(void *arg) {
    sum = read_early(&early);
    write_early(&written, 1);
    late.b = 1;                                         // expect: data-race write #2
    rewritten.b = 1;                                    // expect: data-race write #4
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    early.c = 2;                                        // expect: data-race write #1
    long n = read_late(&late);
    written.d = n;                                      // expect: data-race write #3
    write_late(&rewritten, n);
    return arg;
}

int main(void) {
    struct words *all[] = {&early, &late, &written, &rewritten};
    for (int i = 0; i < 4; i++) all[i]->a = all[i]->b = all[i]->c = all[i]->d = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
