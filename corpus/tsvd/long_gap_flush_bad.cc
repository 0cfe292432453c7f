//@ pair 1: long-gap rare
// A cache is filled at the beginning of each period and flushed by a timer, mostly at its end.
#include <map>
#include <thread>
#include "work.h"

std::map<int, int> cache;

void timer(unsigned gap) {
    for (int period = 0; period < 3; period++) {
        work(gap);
        cache.erase(99);    // expect: thread-safety-violation write #1
        work(320 - gap);
    }
}

int main() {
    for (int i = 0; i < 20; i++) cache.emplace(i, i);
    bool near = rarely();
    std::thread flushing(timer, near ? 40 : 180);
    for (int period = 0; period < 3; period++) {
        work(15);
        cache.insert_or_assign(period, period);    // expect: thread-safety-violation write #1
        work(305);
    }
    flushing.join();
    return cache.size() == 20 ? 0 : 1;
}
