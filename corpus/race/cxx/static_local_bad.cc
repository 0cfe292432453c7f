// A function-local static is initialised safely, once; what is done to it afterwards is not guarded. Every mode reports.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <thread>

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

struct Counter {
    long value;
    Counter() : value(step.load(std::memory_order_relaxed)) {}
};

__attribute__((noinline)) Counter &counter() {
    static Counter instance;
    return instance;
}

void first() {
    counter().value = 1;                                // expect: data-race write #1
    step.store(1, std::memory_order_relaxed);
}

void second() {
    while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
    counter().value = 2;                                // expect: data-race write #1
}

int main() {
    counter().value = 0;
    std::thread a(first), b(second);
    a.join();
    b.join();
}
