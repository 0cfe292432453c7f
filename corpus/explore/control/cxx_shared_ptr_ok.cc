// expect: nothing
// shared_ptr and weak_ptr: the object lives as long as anybody holds it, and is destroyed once.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

std::atomic<int> destroyed;

struct Object {
    int value = 7;
    ~Object() { destroyed++; }
};

int main() {
    auto owner = std::make_shared<Object>();
    std::weak_ptr<Object> weak = owner;
    std::thread user([weak] {
        if (auto held = weak.lock()) assert(held->value == 7 && destroyed == 0);
    });
    std::thread dropper([mine = std::move(owner)]() mutable { mine.reset(); });
    user.join();
    dropper.join();
    assert(destroyed == 1 && weak.expired());
}
