// expect: nothing
// Two players take turns by a flag that says whose turn it is: ad-hoc synchronisation that no library sees.
#include <atomic>
#include <map>
#include <thread>
#include "work.h"

std::atomic<int> turn{0};
std::map<int, int> board;

void player(int me) {
    for (int i = 0; i < 140; i++) {
        work(2);
        while (turn.load(std::memory_order_acquire) != me) std::this_thread::yield();
        board.insert_or_assign(i % 9, me);
        work(2);
        turn.store(1 - me, std::memory_order_release);
    }
}

int main() {
    std::thread other(player, 1);
    player(0);
    other.join();
    return board.size() == 9 ? 0 : 1;
}
