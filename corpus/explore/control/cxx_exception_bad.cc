// expect: assertion
//@ bound: 0
// A thread throws when it comes too late, and nobody catches it: std::terminate.
// Fails when: the closer runs first.
#include <mutex>
#include <stdexcept>
#include <thread>

std::mutex mu;
bool closed;

static void send() {
    std::lock_guard<std::mutex> lock(mu);
    if (closed) throw std::runtime_error("closed");     // expect: assertion here
}

int main() {
    std::thread sender(send);
    std::thread closer([] {
        std::lock_guard<std::mutex> lock(mu);
        closed = true;
    });
    sender.join();
    closer.join();
}
