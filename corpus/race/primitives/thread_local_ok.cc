// thread_local objects with destructors: constructed on first use, destroyed at the thread's end before join returns, each in
// its own thread. Their storage is given to later threads. Silent in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

std::mutex mu;
long destroyed, sum;

struct Cache {
    std::vector<long> values = std::vector<long>(100);
    ~Cache() {
        std::lock_guard<std::mutex> hold(mu);
        destroyed++;
        for (long v : values) sum += v;
    }
};

thread_local Cache cache;
thread_local long plain;

int main() {
    for (int round = 0; round < 20; round++) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back([] {
                for (int k = 0; k < 300; k++) cache.values[k % 100]++, plain++;
                if (plain != 300) std::abort();
            });
        for (auto &t : threads) t.join();
    }
    return destroyed != 80 || sum != 80 * 300;
}
