// 6.3.5, initialising without synchronisation: `if (!obj) obj = new MyObj()` called by two threads; the object may be
// made twice. Every mode reports the pointer. (What the object holds is not read here.)
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <thread>

struct MyObj { int value = 1; };
MyObj *obj = nullptr;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

__attribute__((noinline)) void InitObj() {
    if (!obj)                                           // expect: data-race read #1
        obj = new MyObj();                              // expect: data-race write #1
}

int main() {
    obj = nullptr;
    std::thread a([] {
        InitObj();
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        InitObj();
    });
    a.join();
    b.join();
    delete obj;
}
