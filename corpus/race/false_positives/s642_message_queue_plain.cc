// 6.4.2 without the annotations: a message queue made of a mutex and a deque. It does order Put before Get, but not by any
// SIGNAL and WAIT, so the paper's hybrid reports the message itself, falsely. raddle sees that Get reads the message's
// address where Put stored it, under one lock. fast sees that only where the line had been shared before.
//@ flags: -O1 -std=c++17
// expect(hb hybrid): nothing
// expect(fast): anything
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

class Queue {
  public:
    void Put(int *ptr) {
        std::lock_guard<std::mutex> hold(mu_);
        queue_.push_back(ptr);
    }
    int *Get() {
        std::lock_guard<std::mutex> hold(mu_);
        int *res = nullptr;
        if (!queue_.empty()) {
            res = queue_.front();
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
