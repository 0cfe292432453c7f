// A race in a catch block, after an exception went through many frames. The frames that were unwound are not in the report.
// Every mode reports.
//@ flags: -O1 -std=c++17
//@ golden
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

long shared;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

struct Guard {
    std::string name = "a string long enough to be on the heap, freed while unwinding";
    ~Guard() {}
};

__attribute__((noinline)) void unwound(int n) {
    Guard guard;
    if (n == 0) throw std::runtime_error("out of here");
    unwound(n - 1);
}

void first() {
    try {
        unwound(20);
    } catch (const std::exception &) {
        shared = 1;                                     // expect: data-race write #1
    }
    step.store(1, std::memory_order_relaxed);
}

void second() {
    while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
    try {
        unwound(10);
    } catch (const std::exception &) {
        shared = 2;                                     // expect: data-race write #1
    }
}

int main() {
    shared = 0;
    std::thread a(first), b(second);
    a.join();
    b.join();
}
