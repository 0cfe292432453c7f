// The C++ side: list_empty races with list_push, in every mode; pushing and summing do not.
#include "list.h"
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

int main() {
    list_push(1);
    std::thread a([] {
        list_push(2);
        step.store(1, std::memory_order_relaxed);
        for (int i = 0; i < 100; i++) list_push(0);
    });
    std::thread b([] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        if (list_empty()) std::terminate();
        for (int i = 0; i < 100; i++) list_push(0);
    });
    a.join();
    b.join();
    return list_sum() != 3;
}
