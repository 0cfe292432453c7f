//@ flags: -O0
// A static local that a detached thread constructs is destroyed by main, and seen by others before.
// expect: nothing
#include <atomic>
#include <pthread.h>
#include <unistd.h>

struct Cache {
    int n;
    Cache() : n(1) {}
    ~Cache() { n = 0; }
};

static Cache &cache() {
    static Cache c;
    return c;
}

std::atomic<bool> constructed; // relaxed: synchronises nothing

static void *work(void *arg) {
    cache();
    constructed.store(true, std::memory_order_relaxed);
    return arg;
}

int main() {
    pthread_t t;
    pthread_create(&t, nullptr, work, nullptr);
    pthread_detach(t);
    while (!constructed.load(std::memory_order_relaxed)) usleep(100);
    return cache().n - 1;
}
