// A page that one thread maps and another writes, handed over without order: the other may find nothing mapped there. Fast mode
// forgets what a thread does to memory of its own.
// expect(fast): nothing
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

_Atomic(int *) page;

void *work(void *arg) {
    int *p;
    while (!(p = atomic_load_explicit(&page, memory_order_relaxed))) usleep(100);
    *p = 7;                                             // expect(hb hybrid): data-race write #1
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    int *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // expect(hb hybrid): data-race allocate #1
    atomic_store_explicit(&page, p, memory_order_relaxed);
    pthread_join(t, 0);
    return *p != 7;
}
