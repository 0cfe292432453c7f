// expect: nothing
// Batches change hands through a locked queue: whoever has one, has it alone, though all go through the same lines.
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
#include "work.h"

using Batch = std::unique_ptr<std::vector<int>>;
std::mutex lock;
std::condition_variable changed;
std::list<Batch> waiting;

void put(Batch batch) {
    {
        std::lock_guard<std::mutex> guard(lock);
        waiting.push_back(std::move(batch));
    }
    changed.notify_one();
}

Batch take() {
    std::unique_lock<std::mutex> guard(lock);
    changed.wait(guard, [] { return !waiting.empty(); });
    Batch batch = std::move(waiting.front());
    waiting.pop_front();
    return batch;
}

int main() {
    std::thread second([] {
        for (int i = 0; i < 160; i++) {
            Batch batch = take();
            work(4);
            batch->push_back(2);
        }
    });
    for (int i = 0; i < 160; i++) {
        auto batch = std::make_unique<std::vector<int>>();
        work(4);
        batch->push_back(1);
        put(std::move(batch));
    }
    second.join();
    return waiting.empty() ? 0 : 1;
}
