//@ pair 1: incidental-order often
// The table has no lock. Each use of it is logged before and after, and the log has one, so that in nearly every run all
// uses are ordered by it, by chance: nothing keeps the two calls themselves apart.
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include "work.h"

struct Log {
    std::mutex lock;
    long lines = 0;
    void line() {
        std::lock_guard<std::mutex> guard(lock);
        lines++;
    }
} log_;

std::map<int, int> table;

void update(int key, int value) {
    log_.line();
    table.insert_or_assign(key, value);    // expect: thread-safety-violation write #1
    log_.line();
}

bool look_up(int key) {
    log_.line();
    bool known = table.count(key) != 0;    // expect: thread-safety-violation read #1
    log_.line();
    return known;
}

int main() {
    for (int i = 0; i < 16; i++) table.emplace(i, 0);
    std::thread writer([] {
        for (int i = 0; i < 240; i++) {
            work(4);
            update(i % 16, i);
        }
    });
    int known = 0;
    for (int i = 0; i < 240; i++) {
        work(4);
        known += look_up(i % 16);
    }
    writer.join();
    return known == 240 && log_.lines == 960 ? 0 : 1;
}
