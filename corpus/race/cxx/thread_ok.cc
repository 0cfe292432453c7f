// std::thread: arguments by value, by reference and moved; members as thread functions; results after join.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Worker {
    std::string log;
    void run(int n, const std::string &word) {
        for (int i = 0; i < n; i++) log += word;
    }
};

int main() {
    for (int round = 0; round < 50; round++) {
        Worker w;
        std::vector<int> numbers(100, 1);
        long sum = 0;
        auto owned = std::make_unique<std::string>("moved into the thread, a long string indeed");
        std::thread a(&Worker::run, &w, 100, std::string("ab"));
        std::thread b([](const std::vector<int> &v, long &out) { for (int n : v) out += n; }, numbers, std::ref(sum));
        std::thread c([s = std::move(owned)] { if (s->size() < 20) std::abort(); });
        std::thread moved = std::move(a);
        moved.join();
        b.join();
        c.join();
        if (w.log.size() != 200 || sum != 100) return 1;
    }
}
