// 6.3.4 done right: the pointer is an atomic with release and acquire. Silent in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

struct MyObj {
    std::string name = "a name too long to be stored inside the string itself";
    int value = 42;
};

std::atomic<MyObj *> obj;

int main() {
    for (int i = 0; i < 50; i++) {
        obj.store(nullptr, std::memory_order_relaxed);
        auto use = [] {
            MyObj *o;
            while (!(o = obj.load(std::memory_order_acquire))) std::this_thread::yield();
            if (o->value != 42 || o->name.size() < 40) std::abort();
        };
        std::thread a(use), b(use);
        std::thread publisher([] { obj.store(new MyObj, std::memory_order_release); });
        a.join();
        b.join();
        publisher.join();
        delete obj.load(std::memory_order_relaxed);
    }
}
