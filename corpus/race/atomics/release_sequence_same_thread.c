// A relaxed store by the thread of the release store itself: C11 and C++17 count it into the release sequence, C++20 does not
// (P0982). A tool may follow either: the newer rule reports, the older is silent. Every mode may do as it likes; the
// program is here so that the choice is made on purpose.
// expect: anything
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

long data;
atomic_int flag;

void *publisher(void *arg) {
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
    return arg;
}

void *reader(void *arg) {
    while (atomic_load_explicit(&flag, memory_order_acquire) != 2) usleep(100);
    return (char *)arg + data;
}

int main(void) {
    data = 0;
    pthread_t a, b;
    pthread_create(&a, 0, publisher, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
