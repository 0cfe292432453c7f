// 6.3.9, race during destruction: an object on the stack of one thread is used by another and destroyed at the end of
// its scope, with nobody waiting. The callback's write races with the destructor's. Every mode reports.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <thread>

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing
static void until(int n) {
    while (step.load(std::memory_order_relaxed) < n) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

struct SomeType {
    volatile int state = 1;
    __attribute__((noinline)) ~SomeType() { state = -1; } // expect: data-race write #1
};

std::thread callback_thread;

__attribute__((noinline)) void SomeCallback(SomeType *object) {
    object->state = 2;                                  // expect: data-race write #1
    step.store(1, std::memory_order_relaxed);
}

void Thread1() {
    SomeType object;
    callback_thread = std::thread(SomeCallback, &object);
    until(1); // a sleep would do: the callback has run, but nothing says so
}

int main() {
    std::thread(Thread1).join();
    callback_thread.join();
}
