// An attempt of std::call_once that an exception ends happened before the next attempt, whichever thread makes it.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

int attempts;

int main() {
    for (int round = 0; round < 20; round++) {
        std::once_flag once;
        attempts = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++) {
            threads.emplace_back([&] {
                try {
                    std::call_once(once, [] {
                        if (++attempts < 3) throw attempts;
                    });
                } catch (int) {
                }
            });
        }
        for (auto &t : threads) t.join();
        if (attempts != 3) return 1;
    }
}
