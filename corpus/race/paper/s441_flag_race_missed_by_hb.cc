// 4.4.1, the flag that starts out true: a real race, and whether hb sees it "depends on timing". Here the first
// thread is done before the second takes the lock, so the unlock orders the run and hb misses the race every
// time; hybrid and fast find it every time. The twin s441_flag_race_seen_by_hb has the other timing.
//@ flags: -O1 -std=c++17
// expect(hb): nothing
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

struct Obj {
    int updates = 0;
    __attribute__((noinline)) void UpdateMe() { updates = updates + 1; } // expect(hybrid fast): data-race write write #1 | read write #1
};

std::mutex mu;
bool flag = true;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

int main() {
    Obj obj;
    std::thread first([&] {
        obj.UpdateMe();
        mu.lock();
        flag = true;
        mu.unlock();
        step.store(1, std::memory_order_relaxed);
    });
    std::thread second([&] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        mu.lock();
        bool f = flag;
        mu.unlock();
        if (f) obj.UpdateMe();
    });
    first.join();
    second.join();
    return 0;
}
