// expect: error-message
// After Click: a lock is destroyed while it is still in use, and its destructor says so.
#include <cstdio>
#include <mutex>
#include <thread>

struct Spinlock {
    std::mutex m;
    int depth = 0;
    ~Spinlock() {
        if (depth != 0) std::fprintf(stderr, "Spinlock::~Spinlock(): assertion 'depth == 0' failed\n");
    }
};
Spinlock *router = new Spinlock;
int packets;

void forward() {
    router->m.lock();
    router->depth++;
    router->m.unlock();
    packets++;
    router->m.lock();
    router->depth--;
    router->m.unlock();
}

void shut_down() { router->~Spinlock(); }

int main() {
    std::thread a(forward), b(shut_down);
    a.join();
    b.join();
    return 0;
}
