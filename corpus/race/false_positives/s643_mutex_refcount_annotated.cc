// 6.4.3 with the annotations: every Unref says HAPPENS_BEFORE, the last one HAPPENS_AFTER. Silent in every mode, with the
// threads' order left open and the object really deleted. They stand after the decrement, since `delete` also frees
// ref_ itself: with HAPPENS_BEFORE ahead of it, as the paper has it, hybrid would report the decrement against the free.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <mutex>
#include <thread>
#include <vector>
#include "raddle/annotations.h"

class Counted {
  public:
    explicit Counted(int refs) : ref_(refs) {}
    void Use(int id) { content_[id] = id; }
    void Unref() {
        mu_.lock();
        bool last = --ref_ == 0;
        if (last) ANNOTATE_HAPPENS_AFTER(&ref_);
        else ANNOTATE_HAPPENS_BEFORE(&ref_);
        mu_.unlock();
        if (last) delete this;
    }

  private:
    ~Counted() { content_.assign(4, -1); }
    std::mutex mu_;
    int ref_;
    std::vector<int> content_ = std::vector<int>(4);
};

int main() {
    for (int round = 0; round < 100; round++) {
        Counted *object = new Counted(3);
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back([object, i] {
                object->Use(i);
                object->Unref();
            });
        for (auto &t : threads) t.join();
    }
}
