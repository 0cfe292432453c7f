// strcpy writes up to the terminating zero, strlen and strcmp read up to it. Every mode reports.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

char name[64], title[64];
volatile size_t length = 16; // not a constant, so that the call stays a call
atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    strcpy(name, length ? "raddle and comb" : "");     // expect: data-race write #1
    title[0] = 't';                                     // expect: data-race write #2
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    arg = (char *)arg + strlen(name);                   // expect: data-race read #1
    arg = (char *)arg + strcmp(title, name);            // expect: data-race read #2
    return arg;
}

int main(void) {
    name[0] = title[0] = 0; // plain stores: gcc expands a strcpy of a constant unwatched
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
