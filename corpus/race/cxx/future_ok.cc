// std::async (both policies), std::promise, std::packaged_task, std::shared_future, wait_for. The
// shared state is a release and acquire on a futex word inside libstdc++: an arc in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

int main() {
    for (int round = 0; round < 40; round++) {
        std::vector<long> input(50, round);
        auto sum = std::async(std::launch::async, [&] {
            long s = 0;
            for (long &v : input) s += v++;
            return s;
        });
        auto lazy = std::async(std::launch::deferred, [] { return std::string("done when asked for, not before"); });
        std::promise<std::vector<int>> promise;
        std::shared_future<std::vector<int>> shared = promise.get_future().share();
        std::thread setter([&] { promise.set_value(std::vector<int>(30, 7)); });
        auto reader = [shared] { return shared.get()[29]; };
        auto r1 = std::async(std::launch::async, reader), r2 = std::async(std::launch::async, reader);
        std::packaged_task<int(int)> task([](int n) { return n / 2; });
        auto outcome = task.get_future();
        std::thread runner(std::move(task), round);
        while (outcome.wait_for(std::chrono::microseconds(50)) != std::future_status::ready) {}
        if (outcome.get() != round / 2) return 1;
        if (sum.get() != 50L * round || input[3] != round + 1 || r1.get() + r2.get() != 14 || lazy.get().size() < 20) return 2;
        setter.join();
        runner.join();
    }
}
