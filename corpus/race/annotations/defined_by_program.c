// A program that brings annotations of its own, as those with dynamic_annotations.c do, links; its functions are called.
#include <pthread.h>

int called, hits;

__attribute__((noinline)) void AnnotateBenignRaceSized(const char *file, int line, const volatile void *p, long size, const char *why) {
    called++;
}

void *work(void *arg) {
    hits++;                                             // expect: data-race write write #1 | read write #1
    return arg;
}

int main(void) {
    AnnotateBenignRaceSized(__FILE__, __LINE__, &hits, sizeof hits, "");
    hits = 0;
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return called - 1;
}
