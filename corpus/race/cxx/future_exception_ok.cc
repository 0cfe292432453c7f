// An exception travels through a future: thrown in one thread, caught, read and freed in another. Its reference count is inside
// libstdc++, which is not instrumented, so the order of the last read before the free has to be known to the runtime.
// Silent in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

int main() {
    for (int round = 0; round < 40; round++) {
        std::packaged_task<int()> task([]() -> int { throw std::runtime_error("thrown in the other thread"); });
        auto outcome = task.get_future();
        std::thread runner(std::move(task));
        try {
            outcome.get();
            return 1;
        } catch (const std::runtime_error &e) {
            if (std::string(e.what()).size() < 10) return 2;
        }
        runner.join();
    }
}
