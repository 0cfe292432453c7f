// expect: nothing
// A ring of four batches between one producer and one consumer, with two atomic counts and no lock: a batch is the
// producer's until its count is published, and the consumer's from then on.
#include <atomic>
#include <thread>
#include <vector>
#include "work.h"

std::vector<int> ring[4];
std::atomic<unsigned> written{0}, taken{0};

void produce() {
    for (unsigned i = 0; i < 200; i++) {
        while (i - taken.load(std::memory_order_acquire) == 4) std::this_thread::yield();
        work(4);
        ring[i % 4].push_back(int(i));
        written.store(i + 1, std::memory_order_release);
    }
}

int main() {
    std::thread producer(produce);
    long sum = 0;
    for (unsigned i = 0; i < 200; i++) {
        while (written.load(std::memory_order_acquire) == i) std::this_thread::yield();
        sum += ring[i % 4].back();
        ring[i % 4].clear();
        taken.store(i + 1, std::memory_order_release);
        work(4);
    }
    producer.join();
    return sum == 199 * 200 / 2 ? 0 : 1;
}
