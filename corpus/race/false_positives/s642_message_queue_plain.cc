// 6.4.2 without the annotations: a message queue made of a mutex and a deque. It does order Put before Get, but not by any
// SIGNAL and WAIT, so hybrid and fast report the message itself (falsely), every time; the queue, always under its
// mutex, is fine. hb has the arcs of the mutex: silent.
//@ flags: -O1 -std=c++17
// expect(hb): nothing
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
        *ptr = 1;                                           // expect(hybrid fast): data-race write #1
        queue.Put(ptr);
    });
    std::thread consumer([&] {
        int *ptr;
        while (!(ptr = queue.Get())) std::this_thread::sleep_for(std::chrono::microseconds(100));
        *ptr = 2;                                           // expect(hybrid fast): data-race write #1
    });
    producer.join();
    consumer.join();
    return value != 2;
}
