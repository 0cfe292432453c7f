//@ pair 1: incidental-order often
// Messages are put together in buffers of a pool, which has a lock, and then appended to one outgoing string, which has none.
// A buffer is taken just before and given back just after, so that the pool's lock orders nearly every run, by chance.
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include "work.h"

struct Pool {
    std::mutex lock;
    std::vector<int> free_{0, 1, 2, 3};
    int take() {
        std::lock_guard<std::mutex> guard(lock);
        int buffer = free_.back();
        free_.pop_back();
        return buffer;
    }
    void give(int buffer) {
        std::lock_guard<std::mutex> guard(lock);
        free_.push_back(buffer);
    }
} pool;

std::string outgoing;

void send(char c) {
    int buffer = pool.take();
    outgoing.push_back(c);    // expect: thread-safety-violation write write #1
    pool.give(buffer);
}

void sender(char c) {
    for (int i = 0; i < 240; i++) {
        work(4);
        send(c);
    }
}

int main() {
    outgoing.reserve(1000);
    std::thread other(sender, 'b');
    sender('a');
    other.join();
    return pool.free_.size() == 4 ? 0 : 1;
}
