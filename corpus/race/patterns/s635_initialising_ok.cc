// 6.3.5 done right: a function-local static. The compiler's guard (__cxa_guard_*) makes the first call's writes happen
// before every other call's return, in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <cstdlib>
#include <thread>
#include <vector>

struct MyObj { std::vector<int> values = std::vector<int>(100, 1); };

__attribute__((noinline)) MyObj &Instance() {
    static MyObj obj;
    return obj;
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([] {
            for (int k = 0; k < 1000; k++)
                if (Instance().values[k % 100] != 1) std::abort();
        });
    for (auto &t : threads) t.join();
}
