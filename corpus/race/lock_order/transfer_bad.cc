// The bank transfer: each account its own lock, taken in the order of the arguments. Two transfers the other way round make a
// cycle, both of whose edges are at the same line. Every mode reports.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

struct Account {
    std::mutex mu;
    long balance = 100;
};
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

__attribute__((noinline)) void transfer(Account &from, Account &to, long amount) {
    from.mu.lock();
    to.mu.lock();                                       // expect: lock-order #1
    from.balance -= amount;
    to.balance += amount;
    to.mu.unlock();
    from.mu.unlock();
}

int main() {
    Account a, b;
    std::thread first([&] {
        transfer(a, b, 10);
        step.store(1, std::memory_order_relaxed);
    });
    std::thread second([&] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        transfer(b, a, 20);
    });
    first.join();
    second.join();
    return a.balance != 110;
}
