// expect: nothing
// std::thread with arguments and members, std::mutex, unique_lock, recursive_mutex, timed_mutex.
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

struct Counter {
    std::mutex mu;
    std::recursive_mutex again;
    std::timed_mutex timed;
    int value = 0, missed = 0;

    void add(int n) {
        std::unique_lock<std::mutex> lock(mu);
        value += n;
        lock.unlock();
        std::lock_guard<std::recursive_mutex> outer(again);
        std::lock_guard<std::recursive_mutex> inner(again);
        bool got = timed.try_lock_for(std::chrono::seconds(5));
        lock.lock();
        if (!got) missed++;
        lock.unlock();
        if (got) timed.unlock();
    }
};

int main() {
    Counter counter;
    std::vector<std::thread> threads;
    for (int i = 1; i <= 2; i++) threads.emplace_back(&Counter::add, &counter, i);
    for (auto &t : threads) t.join();
    assert(counter.value == 3 && counter.missed <= 2);
}
