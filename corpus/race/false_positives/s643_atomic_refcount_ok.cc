// 6.4.3: reference counting by atomics confused "even the pure happens-before mode" of the paper. An acq_rel decrement is
// both ends of an arc in the C++11 model, so no annotation is needed, in any mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <atomic>
#include <thread>
#include <vector>

struct Counted {
    std::atomic<int> ref{3};
    std::vector<int> content = std::vector<int>(4);
    void Unref() {
        if (ref.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }
};

int main() {
    for (int round = 0; round < 200; round++) {
        Counted *object = new Counted;
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back([object, i] {
                object->content[i] = i;
                object->Unref();
            });
        for (auto &t : threads) t.join();
    }
}
