// expect: nothing
// std::call_once: the first call throws, the next one does it, the third does nothing; and a function-local static.
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>

std::once_flag flag;
int attempts, done;

struct Table {
    int value;
    Table() : value(42) {}
};

static const Table &table() {
    static Table only;
    return only;
}

static void use() {
    try {
        std::call_once(flag, [] {
            if (++attempts == 1) throw std::runtime_error("not yet");
            done++;
        });
    } catch (const std::runtime_error &) {
    }
    assert(table().value == 42);
}

int main() {
    std::thread a(use), b(use);
    a.join();
    b.join();
    assert(attempts == 2 && done == 1);
}
