// std::ref hands out a reference: the caller's vector is filled by the thread while the caller reads it. Every mode reports.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

void fill(std::vector<long> &numbers) {
    numbers[3] = 1;                                     // expect: data-race write #1
    step.store(1, std::memory_order_relaxed);
}

int main() {
    std::vector<long> numbers(10);
    numbers[3] = 0;
    std::thread t(fill, std::ref(numbers));
    while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
    long early = numbers[3];                            // expect: data-race read #1
    t.join();
    return early != 1;
}
