//@ pair 1: different-keys often
//@ pair 2: different-keys often
// One thread adds and drops its own names, another asks for names that are always there.
#include <set>
#include <thread>
#include "work.h"

std::set<int> names;

void churn() {
    for (int i = 0; i < 200; i++) {
        work(2);
        names.insert(1000 + i);    // expect: thread-safety-violation write #1
        work(2);
        names.erase(1000 + i);    // expect: thread-safety-violation write #2
    }
}

int main() {
    for (int i = 0; i < 100; i++) names.insert(i);
    std::thread churning(churn);
    unsigned long known = 0;
    for (int i = 0; i < 280; i++) {
        work(3);
        known += names.count(i % 100);    // expect: thread-safety-violation read #1 | read #2
    }
    churning.join();
    return known == 280 ? 0 : 1;
}
