// expect: deadlock
//@ flags: -O1 -std=c++20
//@ bound: 0
// A latch that is counted down only by those who find work: one does not.
// Fails when: the first thread to run takes both items.
#include <atomic>
#include <latch>
#include <thread>

std::atomic<int> items(2);
std::latch finished(2);

static void work() {
    bool found = false;
    while (items.fetch_sub(1) > 0) found = true;
    if (found) finished.count_down();
}

int main() {
    std::thread a(work), b(work);
    finished.wait();                                    // expect: deadlock here
    a.join();
    b.join();
}
