//@ pair 1: unlocked-read often
// A report walks the table from its beginning while entries are added under a lock that the report does not take.
#include <map>
#include <mutex>
#include <thread>
#include "work.h"

std::mutex lock;
std::map<int, int> entries;

void writer() {
    for (int i = 0; i < 200; i++) {
        work(4);
        std::lock_guard<std::mutex> guard(lock);
        entries.insert_or_assign(i % 10, i);    // expect: thread-safety-violation write #1
    }
}

int main() {
    for (int i = 0; i < 10; i++) entries.emplace(i, 0);
    std::thread writing(writer);
    long sum = 0;
    for (int i = 0; i < 200; i++) {
        work(4);
        for (auto it = entries.cbegin(); it != entries.cend(); ++it)    // expect: thread-safety-violation read #1
            sum += it->second;
    }
    writing.join();
    return sum >= 0 ? 0 : 1;
}
