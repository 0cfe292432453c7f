//@ flags: -O2 -std=c++17
// Algorithms of libstdc++ that copy and fill a constant number of elements.
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

alignas(64) char row1[64], row2[64];
alignas(64) short row3[64];
alignas(64) long row4[8];
char from[64] = "from";
short shorts[64];
std::atomic<int> step;

void constant() {
    std::copy(from, from + 7, row1); // expect: data-race write #1
    std::fill(row2, row2 + 9, 1); // expect: data-race write #2
    std::copy_n(shorts, 5, row3); // expect: data-race write #3
    std::fill_n(row4, 3, 0); // expect: data-race write #4
    step.store(1, std::memory_order_relaxed);
}

int main() {
    // Shared before the calls: `fast` forgets what one thread alone has touched.
    row1[0] = row2[0] = 2;
    row3[0] = row4[0] = 2;
    std::thread thread(constant);
    while (!step.load(std::memory_order_relaxed)) {
    }
    row1[0] = 1; // expect: data-race write #1
    row2[0] = 1; // expect: data-race write #2
    row3[0] = 1; // expect: data-race write #3
    row4[0] = 1; // expect: data-race write #4
    thread.join();
    return 0;
}
