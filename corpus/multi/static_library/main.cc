// Two threads use the library's careless setter: the race is inside the library, in every mode. The careful one is silent.
#include "counter.h"
#include <atomic>
#include <chrono>
#include <thread>

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

int main() {
    counter::reset();
    std::thread a([] {
        counter::set_safely(1);
        counter::set(1);
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        counter::set(2);
        counter::set_safely(2);
    });
    a.join();
    b.join();
}
