// 6.4.3 without the annotations: reference counting under a mutex. Whoever drops the last reference destroys the object;
// only the mutex says that the others are through with it. hybrid and fast report the content (falsely), every time;
// hb is silent. The first owner is through before the second, so the second destroys.
//@ flags: -O1 -std=c++17
// expect(hb): nothing
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

class Counted {
  public:
    void Use() { content_ = 1; }                        // expect(hybrid fast): data-race write #1
    void Unref() {
        mu_.lock();
        bool last = --ref_ == 0;
        mu_.unlock();
        if (last) content_ = -1; /* the destructor */   // expect(hybrid fast): data-race write #1
    }

  private:
    std::mutex mu_;
    int ref_ = 2;
    alignas(8) volatile int content_ = 0;
};

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

int main() {
    Counted object;
    std::thread a([&] {
        object.Use();
        object.Unref();
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([&] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        object.Unref();
    });
    a.join();
    b.join();
}
