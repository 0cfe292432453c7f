//@ pair 1: unlocked-read often
//@ pair 2: unlocked-read often
// A queue under a lock, but the consumers look whether it is empty before they take the lock.
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
#include "work.h"

std::mutex lock;
std::deque<int> jobs;

void consumer() {
    for (int i = 0; i < 240; i++) {
        work(3);
        if (jobs.empty()) continue;    // expect: thread-safety-violation read #1 | read #2
        std::lock_guard<std::mutex> guard(lock);
        if (jobs.size() > 1) jobs.pop_front();    // expect: thread-safety-violation write #2
    }
}

int main() {
    jobs.assign(100, 0);
    std::vector<std::thread> consumers;
    for (int i = 0; i < 2; i++) consumers.emplace_back(consumer);
    for (int i = 0; i < 240; i++) {
        work(2);
        std::lock_guard<std::mutex> guard(lock);
        jobs.push_back(i);    // expect: thread-safety-violation write #1
    }
    for (auto& thread : consumers) thread.join();
    return jobs.empty() ? 1 : 0;
}
