// 6.4.3 exactly as printed: the atomic decrement is relaxed and the two annotations explain it. Annotations are believed
// in every mode. Freeing the memory is left to main: the annotations order all that comes before the decrement, not the
// decrement itself, so a `delete this` here would race with it.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <atomic>
#include <thread>
#include <vector>
#include "raddle/annotations.h"

class SomeReferenceCountedClass {
  public:
    std::vector<int> content = std::vector<int>(4);
    void Unref() {
        ANNOTATE_HAPPENS_BEFORE(&ref_);
        if (ref_.fetch_sub(1, std::memory_order_relaxed) == 1) {
            ANNOTATE_HAPPENS_AFTER(&ref_);
            content.assign(4, -1); // the destructor; main frees the memory
        }
    }

  private:
    std::atomic<int> ref_{3};
};

int main() {
    for (int round = 0; round < 100; round++) {
        auto *object = new SomeReferenceCountedClass;
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back([object, i] {
                object->content[i] = i;
                object->Unref();
            });
        for (auto &t : threads) t.join();
        delete object;
    }
}
