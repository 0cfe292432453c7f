// The cache counts its hits in the entry, under the reader lock: 6.3.6 in the wild. Every mode reports the count.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <map>
#include <shared_mutex>
#include <thread>

struct Entry { long value, hits; };
std::map<int, Entry> entries;
std::shared_mutex mu;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

__attribute__((noinline)) long Get(int key) {
    std::shared_lock<std::shared_mutex> hold(mu);
    Entry &e = entries.find(key)->second;
    e.hits = e.hits + 1;                                // expect: data-race write write #1 | read write #1
    return e.value;
}

int main() {
    entries[1] = Entry{10, 0};
    std::thread a([] {
        Get(1);
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        Get(1);
    });
    a.join();
    b.join();
}
