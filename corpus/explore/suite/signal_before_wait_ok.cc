// expect: nothing
// A std::condition_variable with a predicate: a notification before the wait is not lost.
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mu;
std::condition_variable ready;
bool finished;

int main() {
    std::thread waiter([] {
        std::unique_lock<std::mutex> lock(mu);
        ready.wait(lock, [] { return finished; });
    });
    std::thread notifier([] {
        std::lock_guard<std::mutex> lock(mu);
        finished = true;
        ready.notify_one();
    });
    waiter.join();
    notifier.join();
}
