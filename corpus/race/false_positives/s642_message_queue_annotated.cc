// 6.4.2 with ANNOTATE_HAPPENS_BEFORE and AFTER in Put and Get: silent in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>
#include "raddle/annotations.h"

class Queue {
  public:
    void Put(int *ptr) {
        std::lock_guard<std::mutex> hold(mu_);
        queue_.push_back(ptr);
        ANNOTATE_HAPPENS_BEFORE(ptr);
    }
    int *Get() {
        std::lock_guard<std::mutex> hold(mu_);
        int *res = nullptr;
        if (!queue_.empty()) {
            res = queue_.front();
            ANNOTATE_HAPPENS_AFTER(res);
            queue_.pop_front();
        }
        return res;
    }

  private:
    std::deque<int *> queue_;
    std::mutex mu_;
};

int main() {
    Queue queue;
    int value = 0;
    std::thread producer([&] {
        int *ptr = &value;
        *ptr = 1;
        queue.Put(ptr);
    });
    std::thread consumer([&] {
        int *ptr;
        while (!(ptr = queue.Get())) std::this_thread::sleep_for(std::chrono::microseconds(100));
        *ptr = 2;
    });
    producer.join();
    consumer.join();
    return value != 2;
}
