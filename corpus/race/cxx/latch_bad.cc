// C++20: a latch publishes what came before count_down, not what comes after it. Every mode reports.
//@ flags: -O1 -std=c++20
#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

std::latch both(2);
long data;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

int main() {
    data = 0;
    std::thread a([] {
        both.count_down();
        data = 1; /* after, not before */               // expect: data-race write #1
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([] {
        both.arrive_and_wait();
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        data = 2;                                       // expect: data-race write #1
    });
    a.join();
    b.join();
}
