// C++20: atomic wait with relaxed order wakes the thread and orders nothing. Every mode reports.
//@ flags: -O1 -std=c++20
#include <atomic>
#include <thread>

std::atomic<int> flag{0};
long data;

int main() {
    data = 0;
    std::thread a([] {
        data = 1;                                       // expect: data-race write #1
        flag.store(1, std::memory_order_relaxed);
        flag.notify_one();
    });
    std::thread b([] {
        flag.wait(0, std::memory_order_relaxed);
        data = 2;                                       // expect: data-race write #1
    });
    a.join();
    b.join();
}
