// delete against a method call in another thread. The object has no destructor to run, so the free is the other end. Every mode.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <thread>

struct Session {
    long requests = 0;
    __attribute__((noinline)) void Handle() { requests = requests + 1; } // expect: data-race write #1 | read #1
};

std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

int main() {
    Session *session = new Session;
    std::thread a([=] {
        session->Handle();
        step.store(1, std::memory_order_relaxed);
    });
    std::thread b([=] {
        while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
        delete session;                                 // expect: data-race free #1
    });
    a.join();
    b.join();
}
