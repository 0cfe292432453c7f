// A value that becomes ready when its thread ends: all that the thread did, destructors of its
// thread-local variables included, comes before whoever gets the value.
// expect: nothing
#include <future>
#include <thread>

static int value, task, destroyed;

struct Local {
    int used = 0;
    ~Local() { destroyed = 1; }
};
static thread_local Local local;

int main() {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread first([&] {
        local.used = 1;
        value = 1;
        promise.set_value_at_thread_exit(3);
    });
    int sum = future.get();
    value++;
    destroyed++;
    first.join();
    std::packaged_task<int()> work([] { return task = 4; });
    auto done = work.get_future();
    std::thread second([&] { work.make_ready_at_thread_exit(); });
    sum += done.get();
    task++;
    second.join();
    return sum + value + task + destroyed != 16;
}
