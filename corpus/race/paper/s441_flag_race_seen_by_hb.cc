// 4.4.1, the flag that starts out true, with the other timing: the second thread is through its critical section
// before the first one takes the lock, so no arc leads from one update to the other. All modes report.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

struct Obj {
    int updates = 0;
    __attribute__((noinline)) void UpdateMe() { updates = updates + 1; } // expect: data-race write write #1 | read write #1
};

std::mutex mu;
bool flag = true;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing
static void until(int n) {
    while (step.load(std::memory_order_relaxed) < n) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

int main() {
    Obj obj;
    std::thread first([&] {
        until(1);
        obj.UpdateMe();
        mu.lock();
        flag = true;
        mu.unlock();
    });
    std::thread second([&] {
        mu.lock();
        bool f = flag;
        mu.unlock();
        step.store(1, std::memory_order_relaxed);
        if (f) obj.UpdateMe();
    });
    first.join();
    second.join();
    return 0;
}
