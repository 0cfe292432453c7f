// 7.1, Chromium's top crasher: a reference count that is not thread-safe, changed from several threads. A wrong count means a leak
// or a double delete, far from here. Every mode reports the count.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <thread>

class RefCounted {
  public:
    __attribute__((noinline)) void AddRef() { ref_count_ = ref_count_ + 1; } // expect: data-race write write #1 | read write #1
    int count() const { return ref_count_; }

  private:
    int ref_count_ = 1;
};

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

int main() {
    RefCounted shared;
    std::thread a([&] {
        shared.AddRef();
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([&] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        shared.AddRef();
    });
    a.join();
    b.join();
    return shared.count() < 2;
}
