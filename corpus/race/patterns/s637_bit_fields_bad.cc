// 6.3.7 in C++: the fields are behind setters, which hides that they share a byte. Every mode reports.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <thread>

class Flags {
    unsigned ready_ : 1, failed_ : 1;

  public:
    Flags() : ready_(0), failed_(0) {}
    __attribute__((noinline)) void set_ready() { ready_ = 1; }   // expect: data-race write #1 | read #1
    __attribute__((noinline)) void set_failed() { failed_ = 1; } // expect: data-race write #1 | read #1
};

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

int main() {
    Flags flags;
    std::thread a([&] {
        flags.set_ready();
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([&] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        flags.set_failed();
    });
    a.join();
    b.join();
}
