//@ pair 1: same-location often
// Each account list has its lock, and the shared index is guarded by whichever the caller happens to hold.
#include <map>
#include <mutex>
#include <thread>
#include "work.h"

std::mutex locks[2];
std::map<int, int> index_;

void enter(int list, int account) {
    std::lock_guard<std::mutex> guard(locks[list]);
    index_.insert_or_assign(account, list);    // expect: thread-safety-violation write write #1
}

void clerk(int list) {
    for (int i = 0; i < 240; i++) {
        work(3 + list);
        enter(list, list * 8 + i % 8);
    }
}

int main() {
    for (int i = 0; i < 16; i++) index_.emplace(i, 0);
    std::thread other(clerk, 1);
    clerk(0);
    other.join();
    return index_.size() == 16 ? 0 : 1;
}
