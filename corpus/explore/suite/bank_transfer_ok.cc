// expect: nothing
// Transfers between two accounts lock both at once, by std::scoped_lock, which backs off.
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
        std::scoped_lock both(source.mu, target.mu);
        source.balance -= amount;
        target.balance += amount;
    }
}

int main() {
    Account a, b;
    std::thread one([&] { transfer(a, b, 10); });
    std::thread two([&] { transfer(b, a, 20); });
    one.join();
    two.join();
    if (a.balance + b.balance != 200) abort();
}
