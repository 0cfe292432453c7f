// expect: nothing
// A producer and two consumers over a queue with a condition variable.
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>
#include "work.h"

std::mutex lock;
std::condition_variable ready;
std::queue<int> queue;
bool over = false;
int taken = 0;

void consumer() {
    for (;;) {
        int item;
        {
            std::unique_lock<std::mutex> guard(lock);
            ready.wait(guard, [] { return over || !queue.empty(); });
            if (queue.empty()) return;
            item = queue.front();
            queue.pop();
            taken++;
        }
        work(2 + item % 2);
    }
}

int main() {
    std::vector<std::thread> consumers;
    for (int i = 0; i < 2; i++) consumers.emplace_back(consumer);
    for (int i = 0; i < 480; i++) {
        work(3);
        {
            std::lock_guard<std::mutex> guard(lock);
            queue.push(i);
        }
        ready.notify_one();
    }
    {
        std::lock_guard<std::mutex> guard(lock);
        over = true;
    }
    ready.notify_all();
    for (auto& thread : consumers) thread.join();
    return taken == 480 ? 0 : 1;
}
