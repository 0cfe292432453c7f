// What a thread does after it has caught what an attempt of std::call_once threw is not before the next attempt.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <mutex>
#include <thread>

int tries, shared;
std::once_flag once;
std::atomic<int> step; // relaxed: fixes the order of the run, synchronises nothing

int main() {
    shared = 1;
    std::thread first([] {
        try {
            std::call_once(once, [] {
                tries++;
                throw 1;
            });
        } catch (int) {
            shared = 2;                                 // expect: data-race write #1
        }
        step.store(1, std::memory_order_relaxed);
    });
    std::thread second([] {
        while (!step.load(std::memory_order_relaxed)) std::this_thread::yield();
        std::call_once(once, [] {
            tries += shared;                            // expect: data-race read #1
        });
    });
    first.join();
    second.join();
    return tries == 3 ? 0 : 1;
}
