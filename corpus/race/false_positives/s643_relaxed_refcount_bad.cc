// 6.4.3 done wrong: a relaxed decrement does not order the other owners' use before the destruction. A real race, in
// every mode: relaxed operations make no arc.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <thread>

struct Counted {
    std::atomic<int> ref{2};
    alignas(8) volatile int content = 0;
    __attribute__((noinline)) void Use() { content = 1; } // expect: data-race write #1
    __attribute__((noinline)) void Unref() {
        if (ref.fetch_sub(1, std::memory_order_relaxed) == 1) content = -1; // expect: data-race write #1
    }
};

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

int main() {
    Counted object;
    std::thread a([&] {
        object.Use();
        object.Unref();
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([&] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        object.Unref();
    });
    a.join();
    b.join();
}
