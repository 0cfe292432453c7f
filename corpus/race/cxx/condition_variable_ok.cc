// std::condition_variable with predicate, wait_for and wait_until; condition_variable_any; notify_all_at_thread_exit. All data is
// under the mutex. Silent in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

std::mutex mu;
std::condition_variable ready;
std::condition_variable_any drained;
std::deque<int> queue;
bool closed;
long taken, exited;

void consume() {
    std::unique_lock<std::mutex> hold(mu);
    for (int i = 0;; i++) {
        auto some = [] { return !queue.empty() || closed; };
        if (i % 3 == 0) ready.wait(hold, some);
        if (i % 3 == 1) ready.wait_for(hold, std::chrono::milliseconds(1), some);
        if (i % 3 == 2) ready.wait_until(hold, std::chrono::steady_clock::now() + std::chrono::milliseconds(1), some);
        if (queue.empty() && closed) break;
        if (queue.empty()) continue;
        taken += queue.front();
        queue.pop_front();
        if (queue.empty()) drained.notify_all();
    }
    exited++;
    std::notify_all_at_thread_exit(ready, std::move(hold));
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) threads.emplace_back(consume);
    for (int i = 0; i < 300; i++) {
        std::unique_lock<std::mutex> hold(mu);
        queue.push_back(1);
        ready.notify_one();
        if (i % 20 == 0) drained.wait(hold, [] { return queue.empty(); });
    }
    {
        std::unique_lock<std::mutex> hold(mu);
        closed = true;
        ready.notify_all();
        ready.wait(hold, [] { return exited == 3; });
    }
    for (auto &t : threads) t.join();
    return taken != 300;
}
