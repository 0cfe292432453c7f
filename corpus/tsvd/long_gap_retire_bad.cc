//@ pair 1: long-gap rare
// Workers look up a plan now and then; an old one is retired long after its last use, or so it was meant.
#include <thread>
#include <unordered_map>
#include "work.h"

std::unordered_map<int, int> plans;

void retire(unsigned gap) {
    for (int round = 0; round < 4; round++) {
        work(gap);
        plans.erase(500 + round);    // expect: thread-safety-violation write #1
        work(250 - gap);
    }
}

int main() {
    plans.reserve(64);
    for (int i = 0; i < 8; i++) plans.emplace(i, i);
    bool near = rarely();
    std::thread retiring(retire, near ? 35 : 160);
    unsigned long n = 0;
    for (int round = 0; round < 4; round++) {
        work(10);
        n += plans.count(round);    // expect: thread-safety-violation read #1
        work(240);
    }
    retiring.join();
    return n == 4 ? 0 : 1;
}
