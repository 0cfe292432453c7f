// expect: nothing
// The right twin of thread_pool_bad: the table has a lock too.
#include <condition_variable>
#include <map>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>
#include "work.h"

std::mutex lock, metrics_lock;
std::condition_variable wake;
std::queue<int> tasks;
bool over = false;
std::map<int, int> metrics;

void run(int task) {
    work(4);
    std::lock_guard<std::mutex> guard(metrics_lock);
    metrics.insert_or_assign(task % 8, task);
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
    std::vector<std::thread> pool;
    for (int i = 0; i < 2; i++) pool.emplace_back(worker);
    for (int task = 0; task < 440; task++) {
        {
            std::lock_guard<std::mutex> guard(lock);
            tasks.push(task);
        }
        wake.notify_one();
    }
    {
        std::lock_guard<std::mutex> guard(lock);
        over = true;
    }
    wake.notify_all();
    for (auto& thread : pool) thread.join();
    return metrics.size() == 8 ? 0 : 1;
}
