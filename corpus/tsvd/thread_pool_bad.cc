//@ pair 1: same-location often
//@ pair 2: unlocked-read often
// A pool whose queue is locked and whose tasks are not: each counts itself in one table, and main shows it.
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>
#include "work.h"

std::mutex lock;
std::condition_variable wake;
std::queue<int> tasks;
bool over = false;
std::map<int, int> metrics;

void run(int task) {
    work(4);
    metrics.insert_or_assign(task % 8, task);    // expect: thread-safety-violation write write #1 | write #2
}

void worker() {
    for (;;) {
        int task;
        {
            std::unique_lock<std::mutex> guard(lock);
            wake.wait(guard, [] { return over || !tasks.empty(); });
            if (tasks.empty()) return;
            task = tasks.front();
            tasks.pop();
        }
        run(task);
    }
}

int main() {
    for (int i = 0; i < 8; i++) metrics.emplace(i, 0);
    std::vector<std::thread> pool;
    for (int i = 0; i < 2; i++) pool.emplace_back(worker);
    int shown = 0;
    for (int task = 0; task < 480; task++) {
        {
            std::lock_guard<std::mutex> guard(lock);
            tasks.push(task);
        }
        wake.notify_one();
        if (task % 4 == 3) {
            work(5);
            shown += metrics.at(task % 8);    // expect: thread-safety-violation read #2
        }
    }
    {
        std::lock_guard<std::mutex> guard(lock);
        over = true;
    }
    wake.notify_all();
    for (auto& thread : pool) thread.join();
    return shown >= 0 ? 0 : 1;
}
