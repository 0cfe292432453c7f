// 6.4.2, last paragraph: a queue by atomics alone "may" be falsely reported "even by a pure happens-before detector".
// Not by one that follows the C++11 memory model: the slot's release store and acquire load are an arc in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <atomic>
#include <cstdlib>
#include <thread>

constexpr int kSlots = 8, kMessages = 2000;
std::atomic<int *> slots[kSlots];
int messages[kMessages];

int main() {
    std::thread producer([] {
        for (int i = 0; i < kMessages; i++) {
            messages[i] = i;
            std::atomic<int *> &slot = slots[i % kSlots];
            while (slot.load(std::memory_order_acquire)) std::this_thread::yield();
            slot.store(&messages[i], std::memory_order_release);
        }
    });
    std::thread consumer([] {
        for (int i = 0; i < kMessages; i++) {
            std::atomic<int *> &slot = slots[i % kSlots];
            int *message;
            while (!(message = slot.load(std::memory_order_acquire))) std::this_thread::yield();
            slot.store(nullptr, std::memory_order_release);
            if (*message != i) std::abort();
            *message = -1;
        }
    });
    producer.join();
    consumer.join();
}
