// expect(sc): nothing
// expect(c11): assertion
// A C++ object published through a relaxed pointer: its field may still look as it was before.
#include <atomic>
#include <cassert>
#include <thread>

struct Message {
    std::atomic<int> value{0};
};
Message message;
std::atomic<Message *> published;

int main() {
    std::thread writer([] {
        message.value.store(42, std::memory_order_relaxed);
        published.store(&message, std::memory_order_relaxed);
    });
    std::thread reader([] {
        Message *m = published.load(std::memory_order_relaxed);
        if (m) assert(m->value.load(std::memory_order_relaxed) == 42); // expect: assertion here
    });
    writer.join();
    reader.join();
}
