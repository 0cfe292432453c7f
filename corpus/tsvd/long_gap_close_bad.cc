//@ pair 1: long-gap rare
// A resource is used, and closed by another thread, mostly long after; under rare schedules shortly after. Nothing but
// time orders the two.
#include <thread>
#include <vector>
#include "work.h"

std::vector<int> handles;

void closer(unsigned gap) {
    for (int round = 0; round < 3; round++) {
        work(gap);
        handles.clear();    // expect: thread-safety-violation write #1
        work(290 - gap);
    }
}

int main() {
    handles.reserve(64);
    bool near = rarely();
    std::thread closing(closer, near ? 50 : 200);
    unsigned long n = 0;
    for (int round = 0; round < 3; round++) {
        work(20);
        n += handles.size();    // expect: thread-safety-violation read #1
        work(270);
    }
    closing.join();
    return n == 0 ? 0 : 1;
}
