//@ pair 1: async-continuation often
// Tasks add to the totals when they are done, and so does main for those it computed itself.
#include <future>
#include <unordered_map>
#include <vector>
#include "work.h"

std::unordered_map<int, long> totals;

void background(int part) {
    work(6);
    totals.insert_or_assign(part, 1L);    // expect: thread-safety-violation write #1
}

int main() {
    totals.reserve(1024);
    for (int part = 0; part < 256; part++) totals.emplace(part, 0L);
    for (int part = 0; part < 128; part++) {
        auto task = std::async(std::launch::async, background, part);
        work(7);
        totals.insert_or_assign(128 + part, 2L);    // expect: thread-safety-violation write #1
        task.get();
    }
    return totals.size() == 256 ? 0 : 1;
}
