// expect: nothing
// Four tables with a lock each; a key decides which. Two threads often hold two locks at once, never one table.
#include <mutex>
#include <thread>
#include <unordered_map>
#include "work.h"

struct Stripe {
    std::mutex lock;
    std::unordered_map<int, int> table;
} stripes[4];

void add(int key) {
    Stripe& stripe = stripes[key % 4];
    std::lock_guard<std::mutex> guard(stripe.lock);
    stripe.table[key]++;
}

void worker(int from) {
    for (int i = 0; i < 240; i++) {
        work(4);
        add(from + i);
    }
}

int main() {
    std::thread other(worker, 30);
    worker(0);
    other.join();
    unsigned long n = 0;
    for (auto& stripe : stripes) n += stripe.table.size();
    return n == 270 ? 0 : 1;
}
