// A bounded queue of C++ hands blocks from one thread to another, which frees them. The consumer waits first, and often does not have
// to later.
// expect: nothing
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unistd.h>

struct Queue {
    std::mutex mu;
    std::condition_variable not_empty, not_full;
    std::deque<long *> items;
    std::atomic<int> waits{0}; // relaxed: fixes the order of the run, synchronises nothing

    void put(long *item) {
        std::unique_lock<std::mutex> lock(mu);
        while (items.size() >= 4) not_full.wait(lock);
        items.push_back(item);
        not_empty.notify_one();
    }

    long *get() {
        std::unique_lock<std::mutex> lock(mu);
        while (items.empty()) {
            waits.store(1, std::memory_order_relaxed);
            not_empty.wait(lock);
        }
        long *item = items.front();
        items.pop_front();
        not_full.notify_one();
        return item;
    }
};

int main() {
    Queue queue;
    long sum = 0;
    std::thread consumer([&] {
        for (int i = 0; i < 50; i++) {
            long *item = queue.get();
            sum += *item;
            delete item;
        }
    });
    while (!queue.waits.load(std::memory_order_relaxed)) usleep(100);
    for (int i = 0; i < 50; i++) queue.put(new long(i));
    consumer.join();
    return sum == 1225 ? 0 : 1;
}
