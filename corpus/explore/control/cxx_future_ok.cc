// expect: nothing
// std::async, promise and future, packaged_task, shared_future, and an exception that crosses over.
#include <cassert>
#include <future>
#include <stdexcept>
#include <thread>

int main() {
    auto sum = std::async(std::launch::async, [] { return 40 + 2; });
    std::promise<int> promise;
    auto answer = promise.get_future().share();
    std::thread setter([&] { promise.set_value(7); });
    std::packaged_task<int()> task([]() -> int { throw std::runtime_error("no"); });
    auto failure = task.get_future();
    std::thread runner(std::move(task));
    assert(sum.get() == 42);
    assert(answer.get() == 7 && answer.get() == 7);
    bool thrown = false;
    try {
        failure.get();
    } catch (const std::runtime_error &) {
        thrown = true;
    }
    assert(thrown);
    setter.join();
    runner.join();
}
