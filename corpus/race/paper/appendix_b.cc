// Appendix B: a wrong mutex in one place. The report has both stacks, the names of both threads, the lock held at
// each access and where it was taken, and the variable's name. A race in every mode: the locks differ, so there is
// neither a common lock nor an arc.
//@ flags: -O1 -std=c++17
//@ golden
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include "raddle/annotations.h"

std::mutex mu1; // guards var
std::mutex mu2; // is not related to var
int var;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

void Thread1() {
    ANNOTATE_THREAD_NAME("test-thread-1");
    mu1.lock(); // the correct mutex
    var = 1;                                            // expect: data-race write #1
    mu1.unlock();
    step.store(1, std::memory_order_relaxed);
}

void Thread2() {
    ANNOTATE_THREAD_NAME("test-thread-2");
    while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
    mu2.lock(); // the wrong mutex
    var = 2;                                            // expect: data-race write #1
    mu2.unlock();
}

int main() {
    var = 0;
    std::thread a(Thread1), b(Thread2);
    a.join();
    b.join();
}
