// Threads may each have a copy of a shared_ptr, but not share one: assigning to it while another copies it is a race on the
// pointer itself. Every mode reports; the accesses are inside libstdc++'s header, the lines those of the calls.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing
std::shared_ptr<long> current;

void replace() {
    std::shared_ptr<long> fresh = std::make_shared<long>(2);
    current.swap(fresh);                                // expect: data-race write #1 | read #1
    step.store(1, std::memory_order_relaxed);
    while (step.load(std::memory_order_relaxed) < 2) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void use() {
    while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::shared_ptr<long> *where = &current;
    long *raw = where->get();                           // expect: data-race read #1
    step.store(2, std::memory_order_relaxed);
    if (!raw) std::terminate();
}

int main() {
    current = std::make_shared<long>(1);
    std::thread a(replace), b(use);
    a.join();
    b.join();
}
