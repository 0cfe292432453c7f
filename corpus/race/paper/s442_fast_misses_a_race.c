// 4.4.2: "both these techniques may as well hide real races". Two threads write one variable once each and nobody
// else touches its cache line: the first write is ignored as private, so the second has nothing to race with.
// hb and hybrid report; fast is silent, by design.
// expect(fast): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

_Alignas(64) struct { int value; char rest_of_line[60]; } shared;
_Alignas(64) atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

void *first(void *arg) {
    shared.value = 1;                                   // expect(hb hybrid): data-race write #1
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

void *second(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    shared.value = 2;                                   // expect(hb hybrid): data-race write #1
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
