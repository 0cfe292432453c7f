// 6.3.8 done right: the pointer is an atomic, loaded with acquire and stored with release. Silent in hb. A thread that finds the
// pointer under the lock relies on the lock's order, which hybrid and fast do not count: there the timing decides.
//@ flags: -O1 -std=c++17
// expect(hb): nothing
// expect(hybrid fast): anything
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

struct Singleton { std::vector<int> values = {1, 2, 3}; };
std::atomic<Singleton *> instance{nullptr};
std::mutex mu;

Singleton *get() {
    Singleton *s = instance.load(std::memory_order_acquire);
    if (!s) {
        std::lock_guard<std::mutex> hold(mu);
        s = instance.load(std::memory_order_relaxed); // the lock orders it
        if (!s) instance.store(s = new Singleton, std::memory_order_release);
    }
    return s;
}

int main() {
    for (int round = 0; round < 30; round++) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back([] {
                if (get()->values[1] != 2) std::abort();
            });
        for (auto &t : threads) t.join();
        delete instance.exchange(nullptr);
    }
}
