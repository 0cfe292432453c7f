//@ pair 1: once once
// The worker stores its last result while main, which did not wait for it, takes stock.
#include <thread>
#include <vector>
#include "work.h"

std::vector<int> results;

void worker() {
    work(600);
    results.push_back(1);    // expect: thread-safety-violation write #1
    work(200);
}

int main() {
    results.reserve(16);
    std::thread working(worker);
    work(640);
    unsigned long n = results.size();    // expect: thread-safety-violation read #1
    work(150);
    working.join();
    return n <= 1 ? 0 : 1;
}
