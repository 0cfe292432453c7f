// expect: nothing
// An ad-hoc flag hands the vector to and fro: who may touch it is whose turn it is.
#include <atomic>
#include <thread>
#include <vector>
#include "work.h"

std::atomic<int> turn{0};
std::vector<int> shared;

void player(int id) {
    for (int i = 0; i < 120; i++) {
        work(3);
        while (turn.load(std::memory_order_acquire) != id) std::this_thread::yield();
        shared.push_back(id);
        turn.store(1 - id, std::memory_order_release);
        work(3);
    }
}

int main() {
    std::thread other(player, 1);
    player(0);
    other.join();
    return shared.size() == 240 ? 0 : 1;
}
