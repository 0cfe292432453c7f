// push_back moves the whole vector while another thread reads an element: the read races with the free of the old storage (#1),
// and the reading of the data pointer with its being set anew (#2). Every mode reports both.
//@ flags: -O1 -std=c++17
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <vector>

std::vector<long> numbers;
std::atomic<int> step{0}; // relaxed: fixes the order of the run, synchronises nothing

void reader() {
    const long *element = numbers.data() + 2;           // expect: data-race read #2
    if (*element != 3) std::terminate();                // expect: data-race read #1
    step.store(1, std::memory_order_relaxed);
}

void grower() {
    while (step.load(std::memory_order_relaxed) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
    numbers.push_back(4);                               // expect: data-race free #1 | write #2
}

int main() {
    numbers = {1, 2, 3};
    numbers.shrink_to_fit();
    std::thread a(reader), b(grower);
    a.join();
    b.join();
}
