// A value that becomes ready when its thread ends orders what comes after getting it. Main writes
// before it gets it. The relaxed atomic makes main the second to write, and orders nothing.
#include <atomic>
#include <future>
#include <thread>

static int value;
static std::atomic<bool> has_written;

int main() {
    value = 7;
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread thread([&] {
        value = 1;                                                // expect: data-race write #1
        has_written.store(true, std::memory_order_relaxed);
        promise.set_value_at_thread_exit(3);
    });
    while (!has_written.load(std::memory_order_relaxed)) std::this_thread::yield();
    value = 2;                                                    // expect: data-race write #1
    int got = future.get();
    thread.join();
    return got != 3 || value == 7;
}
