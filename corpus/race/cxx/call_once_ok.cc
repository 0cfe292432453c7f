// std::call_once, and a function-local static whose initialiser throws the first time, so that another call has to try again
// (__cxa_guard_abort). Silent in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

std::once_flag once;
std::vector<long> table;
std::atomic<int> made{0}, static_tries{0};

void make() { table.assign(64, ++made); }

struct Picky {
    std::vector<int> values{1, 2, 3};
    Picky() {
        if (static_tries.fetch_add(1) == 0) throw std::runtime_error("not the first time");
    }
};

Picky &picky() {
    static Picky instance; // __cxa_guard_abort, then acquire and release
    return instance;
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([] {
            for (int k = 0; k < 200; k++) {
                std::call_once(once, make);
                if (table[k % 64] != 1) std::abort();
                try {
                    if (picky().values[2] != 3) std::abort();
                } catch (const std::runtime_error &) {
                }
            }
        });
    for (auto &t : threads) t.join();
    return made != 1 || static_tries != 2;
}
