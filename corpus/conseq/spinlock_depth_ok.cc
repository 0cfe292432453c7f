// expect: nothing
// The twin of spinlock_depth_bad.cc: the lock is destroyed when its users have gone.
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
    std::thread a(forward);
    a.join();
    std::thread b(shut_down);
    b.join();
    return 0;
}
