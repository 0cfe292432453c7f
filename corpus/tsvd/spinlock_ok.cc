// expect: nothing
// A spin lock made of an atomic_flag, which no tool knows for a lock.
#include <atomic>
#include <set>
#include <thread>
#include "work.h"

std::atomic_flag busy = ATOMIC_FLAG_INIT;
std::set<int> seen;

void visitor(int from) {
    for (int i = 0; i < 240; i++) {
        work(4);
        while (busy.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
        seen.insert(from + i);
        busy.clear(std::memory_order_release);
    }
}

int main() {
    std::thread other(visitor, 1000);
    visitor(0);
    other.join();
    return seen.size() == 480 ? 0 : 1;
}
