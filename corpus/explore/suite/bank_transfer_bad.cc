// expect: deadlock
//@ bound: 1
// Transfers between two accounts lock the source first.
// Fails when: each transfer holds its source and waits for its target.
//@ flags: -O1 -std=c++17
#include <cstdlib>
#include <mutex>
#include <thread>

struct Account {
    std::mutex mu;
    int balance = 100;
};

static void transfer(Account &source, Account &target, int amount) {
    {
        std::lock_guard from(source.mu);
        std::lock_guard to(target.mu);                  // expect: deadlock here
        source.balance -= amount;
        target.balance += amount;
    }
}

int main() {
    Account a, b;
    std::thread one([&] { transfer(a, b, 10); });
    std::thread two([&] { transfer(b, a, 20); });
    one.join();                                           // expect: deadlock here
    two.join();                                           // expect: deadlock here
    if (a.balance + b.balance != 200) abort();
}
