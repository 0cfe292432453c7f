// expect(sc c11): nothing
// A C++ object published through a released pointer.
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
        published.store(&message, std::memory_order_release);
    });
    std::thread reader([] {
        Message *m = published.load(std::memory_order_acquire);
        if (m) assert(m->value.load(std::memory_order_relaxed) == 42);
    });
    writer.join();
    reader.join();
}
