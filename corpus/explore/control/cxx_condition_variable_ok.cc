// expect: nothing
// std::condition_variable with a predicate and with a time, and condition_variable_any with another lock.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::mutex mu;
std::shared_mutex shared;
std::condition_variable changed;
std::condition_variable_any shared_changed;
bool ready, shared_ready;

int main() {
    std::thread setter([] {
        {
            std::lock_guard<std::mutex> lock(mu);
            ready = true;
        }
        changed.notify_all();
        {
            std::lock_guard<std::shared_mutex> lock(shared);
            shared_ready = true;
        }
        shared_changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> lock(mu);
        bool in_time = changed.wait_for(lock, std::chrono::seconds(5), [] { return ready; });
        assert(in_time == ready);
        changed.wait(lock, [] { return ready; });
    }
    std::shared_lock<std::shared_mutex> lock(shared);
    shared_changed.wait(lock, [] { return shared_ready; });
    assert(shared_ready);
    lock.unlock();
    setter.join();
}
