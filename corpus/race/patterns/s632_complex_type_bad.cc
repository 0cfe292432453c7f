// 6.3.2, race on a complex type: two threads insert into one std::map. The accesses are in libstdc++'s headers (and
// in its own code, which is not instrumented); the innermost frames of this file are the two calls.
// Every mode reports: no arc, no lock.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <map>
#include <thread>

std::map<int, int> m;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

void first() {
    m[123] = 1;                                         // expect: data-race write #1 | read #1 | allocate #1
    step.store(1, std::memory_order_relaxed);
}

void second() {
    while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
    m[345] = 0;                                         // expect: data-race write #1 | read #1 | allocate #1
}

int main() {
    m[1] = 1;
    std::thread a(first), b(second);
    a.join();
    b.join();
}
