// expect: deadlock
//@ flags: -std=c++20 -O1
// Two threads wait for an atomic, and main wakes one of them. std::atomic::wait yields four times
// before it blocks. `cxx_atomic_wait_ok.cc` wakes all.
#include <atomic>
#include <thread>

std::atomic<int> x;

int main() {
    std::thread first([] { x.wait(0); }), second([] { x.wait(0); });
    x = 1;
    x.notify_one();
    first.join();
    second.join();
}
