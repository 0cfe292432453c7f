// Exceptions out of critical sections (the guard unlocks while unwinding), across threads by exception_ptr, and rethrown.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

std::mutex mu;
long balance;

__attribute__((noinline)) void withdraw(long n) {
    std::lock_guard<std::mutex> hold(mu);
    balance -= n;
    if (balance < 0) {
        balance += n;
        throw std::runtime_error("insufficient funds: " + std::to_string(n));
    }
}

int main() {
    balance = 1000;
    std::vector<std::exception_ptr> failures(3);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&failures, i] {
            for (int k = 0; k < 500; k++) try {
                    withdraw(1);
                } catch (...) {
                    failures[i] = std::current_exception();
                }
        });
    for (auto &t : threads) t.join();
    int caught = 0;
    for (auto &f : failures)
        if (f) try {
                std::rethrow_exception(f);
            } catch (const std::runtime_error &e) {
                caught += std::string(e.what()).size() > 5;
            }
    return balance != 0 || caught == 0;
}
