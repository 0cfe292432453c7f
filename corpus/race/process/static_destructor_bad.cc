// The destructor of a global runs at exit, while a detached thread still uses the global: the most common crash on shutdown.
// Every mode reports.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <thread>

struct Registry {
    volatile long entries;
    Registry() : entries(1) {}
    ~Registry() { entries = -1; }                       // expect: data-race write #1
};

Registry registry;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

int main() {
    std::thread([] {
        registry.entries = 2;                           // expect: data-race write #1
        step.store(1, std::memory_order_relaxed);
        for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    }).detach();
    while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
}
