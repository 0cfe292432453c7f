// What is written after set_value is not published by it. Every mode reports.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing
struct Result { long value, details; } result;

int main() {
    result = {0, 0};
    std::promise<Result *> promise;
    auto future = promise.get_future();
    std::thread a([&] {
        result.value = 42;
        promise.set_value(&result);
        result.details = 7;                             // expect: data-race write #1
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([&] {
        Result *r = future.get();
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        r->value = r->details;                          // expect: data-race read #1
    });
    a.join();
    b.join();
}
