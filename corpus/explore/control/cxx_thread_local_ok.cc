// expect: nothing
// thread_local objects: made on first use in each thread, destroyed at its end in reverse order, before join returns.
#include <atomic>
#include <cassert>
#include <string>
#include <thread>

std::atomic<int> made, destroyed, wrong_order;
thread_local bool inner_gone;

struct Inner {
    std::string text = "inner";
    Inner() { made++; }
    ~Inner() {
        inner_gone = true;
        destroyed++;
    }
};
struct Outer {
    Outer() { made++; }
    ~Outer() {
        if (inner_gone) wrong_order++;
        destroyed++;
    }
};
thread_local Inner inner;
thread_local Outer outer;

static void use() {
    assert(inner.text == "inner"); // made first, so destroyed last
    inner.text += "!";
    Outer *o = &outer;
    assert(o != nullptr);
}

int main() {
    std::thread a(use), b(use);
    a.join();
    b.join();
    assert(made == 4 && destroyed == 4 && wrong_order == 0);
}
