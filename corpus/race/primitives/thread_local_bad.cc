// A thread_local is private only as long as its address stays at home: here another thread writes through a pointer to it.
// Every mode reports the reader or the second writer; the address is thread-local storage of the owner.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing
static void until(int n) {
    while (step.load(std::memory_order_relaxed) < n) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

thread_local volatile long mine;
std::atomic<volatile long *> theirs;

int main() {
    std::thread owner([] {
        mine = 1;
        theirs.store(&mine, std::memory_order_release); // orders the write above, not the one below
        until(1);
        mine = 2;                                       // expect: data-race write #1
        step.store(2, std::memory_order_relaxed);
        until(3);
    });
    std::thread other([] {
        volatile long *p;
        while (!(p = theirs.load(std::memory_order_acquire))) std::this_thread::yield();
        if (*p != 1) std::abort();                      // expect: data-race read #1
        step.store(1, std::memory_order_relaxed);
        until(2);
        *p = 3;                                         // expect: data-race write #1
        step.store(3, std::memory_order_relaxed);
    });
    owner.join();
    other.join();
}
