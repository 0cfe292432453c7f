//@ pair 1: same-location often
// A log that is one string: every thread appends to it.
#include <string>
#include <thread>
#include <vector>
#include "work.h"

std::string journal;

void append(const char* text) {
    journal.append(text);    // expect: thread-safety-violation write write #1
}

void worker(unsigned ms) {
    for (int i = 0; i < 220; i++) {
        work(ms);
        append("done;");
    }
}

int main() {
    journal.reserve(1 << 16);
    std::thread other(worker, 4);
    worker(4);
    other.join();
    return journal.empty() ? 1 : 0;
}
