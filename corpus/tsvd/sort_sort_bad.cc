//@ pair 1: sort-read often
// The production incident of section 5.6: two threads sort one list at the same time.
#include <list>
#include <thread>
#include "work.h"

std::list<int> ranking;

void refresh(unsigned ms) {
    for (int i = 0; i < 160; i++) {
        work(ms);
        ranking.sort();    // expect: thread-safety-violation write write #1
    }
}

int main() {
    for (int i = 0; i < 160; i++) ranking.push_back(i);
    std::thread other(refresh, 6);
    refresh(5);
    other.join();
    return ranking.size() == 160 ? 0 : 1;
}
