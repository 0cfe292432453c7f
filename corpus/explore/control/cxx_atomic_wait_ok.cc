// expect: nothing
//@ flags: -O1 -std=c++20
// std::atomic::wait and notify, and atomic_flag as a lock that waits.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> stage;
std::atomic_flag taken;
int counter;

static void add() {
    while (taken.test_and_set()) taken.wait(true);
    counter++;
    taken.clear();
    taken.notify_one();
}

int main() {
    std::thread a([] {
        add();
        stage = 1;
        stage.notify_all();
    });
    std::thread b([] {
        stage.wait(0);
        assert(stage == 1);
        add();
    });
    add();
    a.join();
    b.join();
    assert(counter == 3);
}
