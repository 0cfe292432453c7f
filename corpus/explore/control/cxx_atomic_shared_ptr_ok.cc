// expect: nothing
//@ flags: -O0 -std=c++20
//@ compilers: gcc
//@ options: --schedules 2000
// std::atomic<std::shared_ptr> of libstdc++ spins on a bit of a pointer; its pause is in a function of its own at -O0.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

static std::atomic<std::shared_ptr<int>> shared{std::make_shared<int>(1)};

int main() {
    std::thread a([] { shared.store(std::make_shared<int>(2)); });
    std::thread b([] {
        auto p = shared.load();
        assert(*p == 1 || *p == 2);
    });
    a.join();
    b.join();
    return 0;
}
