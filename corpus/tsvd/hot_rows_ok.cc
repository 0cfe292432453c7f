// expect: nothing
// Hot loops on rows of their own, and now and then a look at what both share, under its lock.
#include <mutex>
#include <thread>
#include <vector>
#include "work.h"

std::mutex lock;
std::vector<long> best;

long go_through(std::vector<long>& row, int round) {
    long sum = 0;
    for (int i = 0; i < 20000; i++) {
        row[i % 1000] = row[(i * 7 + round) % 1000] + i;
        sum += row[i % 1000] & 7;
    }
    return sum;
}

void writer(std::vector<long>& row) {
    for (int round = 0; round < 300; round++) {
        long sum = go_through(row, round);
        work(1);
        std::lock_guard<std::mutex> guard(lock);
        best.assign(1, sum);
    }
}

int main() {
    best.reserve(8);
    best.assign(1, 0L);
    std::vector<long> rows[2] = {std::vector<long>(1000), std::vector<long>(1000)};
    std::thread other([&rows] { writer(rows[0]); });
    long seen = 0;
    for (int round = 0; round < 300; round++) {
        seen += go_through(rows[1], round);
        work(1);
        std::lock_guard<std::mutex> guard(lock);
        seen += best.size();
    }
    other.join();
    return seen > 0 ? 0 : 1;
}
