// 6.3.8 in C++: a singleton by double-checked locking on a plain pointer. Every mode reports the pointer; the
// instance's own line is touched first by its maker, so fast does not report its content.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

struct Singleton {
    alignas(64) int value;
    char rest_of_line[60];
    __attribute__((noinline)) Singleton() : value(42) {} // expect(hb hybrid): data-race write #2
};
Singleton *instance;
std::mutex mu;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

__attribute__((noinline)) Singleton *get() {
    if (!instance) {                                    // expect: data-race read #1
        std::lock_guard<std::mutex> hold(mu);
        if (!instance) {
            Singleton *fresh = new Singleton;           // expect(hb hybrid): data-race write #2 | allocate #2
            instance = fresh;                           // expect: data-race write #1
        }
    }
    return instance;                                    // expect: data-race read #1
}

int main() {
    instance = nullptr;
    std::thread a([] {
        get();
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        if (get()->value != 42) std::abort();           // expect(hb hybrid): data-race read #2
    });
    a.join();
    b.join();
    delete instance;
}
