// expect: deadlock
//@ flags: -O1 -std=c++20
//@ bound: 0
// A latch that is counted down only by those who find work, beside a thread that throws work away.
// Fails when: the purger runs before one of the workers, who then finds nothing: main waits for ever.
#include <atomic>
#include <latch>
#include <thread>

std::atomic<int> items(2);
std::latch finished(2);

static void work() {
    if (items.fetch_sub(1) > 0) finished.count_down();
}

static void purge() {
    items = 0;
}

int main() {
    std::thread a(work), b(work), c(purge);
    finished.wait();                                    // expect: deadlock here
    a.join();
    b.join();
    c.join();
}
