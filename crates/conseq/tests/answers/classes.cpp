// C++: atomics, streams, exceptions, methods, landing pads, virtual calls.
#include <atomic>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

struct Task {
    int size = 0;
    virtual void run() { size++; }
    virtual ~Task() {}
};

std::atomic<bool> stop{false};
std::atomic<int> balance{10};
std::mutex guard;
int total, noise, most = 5;
Task *head;

struct Queue {
    __attribute__((noinline)) int count() const { return count_; } // [count]
    int count_ = 0, last_ = 0;
} queue;

__attribute__((noinline)) void spin() {
    while (!stop.load()) // [stop] ~ loop: stop@1#12 std@1#0 waits fails(stop=0)#12 holds(stop=1)#12 fails(std=0)#0 holds(std=1)#0
        std::this_thread::yield();
}

__attribute__((noinline)) void check() {
    noise++;
    // -O2 moves the read from the callee to here.
    int n = queue.count(); // [counted]
    if (n > most)          // [most]
        throw std::runtime_error("too many"); // ~ assert: count@1#01 counted@1#2 most@1 fails(count=9,counted=9,most=5) holds(count=5,counted=5,most=5)
}

__attribute__((noinline)) void pay() {
    int left = balance.load(); // [balance]
    if (left < 0)
        std::cerr << "overdrawn\n"; // ~ error: balance@1 fails(balance=-1) holds(balance=0)
    std::cout << "left " << left << " of " << total << "\n"; // [total] ~ output: balance@1 total@1
}

__attribute__((noinline)) void run() {
    Task *t = head; // [head]
    t->run(); // [table] ~ memory: head@1 table?
}

// Between the lock and its release every call may throw.
__attribute__((noinline)) int guarded(const char *word) {
    std::lock_guard<std::mutex> hold(guard);
    std::string s = word;
    if (queue.last_ == 3) // [last]
        throw std::logic_error(s); // ~ assert: last@1 fails(last=3) holds(last=4)
    return (int)s.size();
}

__attribute__((noinline)) int caught(const char *word) {
    try {
        return guarded(word);
    } catch (std::exception &e) {
        if (noise > 3) // [noise]
            std::cerr << "noisy\n"; // ~ error: noise@1
        return 1;
    }
}

int main(int, char **words) {
    std::thread a([] {
        spin();
        check();
        pay();
    });
    head = new Task{};
    balance = 3;
    queue.count_ = 2;
    stop = true;
    run();
    a.join();
    return caught(words[0]);
}
