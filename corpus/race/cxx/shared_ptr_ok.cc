// std::shared_ptr and weak_ptr copied and dropped by many threads; whoever drops last destroys. The count's acq_rel decrement
// orders all use before the destructor, in every mode. Also the free-function atomics on a shared_ptr.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Node {
    std::vector<long> values = std::vector<long>(16, 1);
    ~Node() { values[0] = -1; }
};

int main() {
    std::mutex mu;
    for (int round = 0; round < 100; round++) {
        auto node = std::make_shared<Node>();
        std::weak_ptr<Node> weak = node;
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back([node, weak, i, &mu] {
                std::shared_ptr<Node> copy = node;
                copy->values[i + 1] = i; // each its own element
                copy.reset();
                if (auto strong = weak.lock()) {
                    std::lock_guard<std::mutex> hold(mu);
                    strong->values[10]++;
                }
            });
        node.reset();
        for (auto &t : threads) t.join();
        if (!weak.expired()) std::abort();
    }
}
