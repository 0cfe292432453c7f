// 6.3.6 in C++: std::shared_lock around an increment. A race in every mode.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <shared_mutex>
#include <thread>

int var;
std::shared_mutex mu;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

void bump() {
    std::shared_lock<std::shared_mutex> hold(mu);
    var = var + 1;                                      // expect: data-race write write #1 | read write #1
}

int main() {
    var = 0;
    std::thread a([] {
        bump();
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        bump();
    });
    a.join();
    b.join();
}
