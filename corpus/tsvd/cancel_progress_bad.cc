//@ pair 1: incidental-order often
// Workers of a parallel loop ask under a lock whether to go on, put their result into the shared table without one, and
// count their progress under a lock. Those two locks order the results of nearly every run, by chance.
#include <map>
#include <mutex>
#include <thread>
#include "work.h"

std::mutex lock;
bool cancelled = false;
int progress = 0;
std::map<int, int> results;

bool goes_on() {
    std::lock_guard<std::mutex> guard(lock);
    return !cancelled;
}

void advance() {
    std::lock_guard<std::mutex> guard(lock);
    progress++;
}

void worker(int from) {
    for (int i = from; i < 480; i += 2) {
        work(4);
        if (!goes_on()) return;
        results.insert_or_assign(i % 16, i);    // expect: thread-safety-violation write write #1
        advance();
    }
}

int main() {
    for (int i = 0; i < 16; i++) results.emplace(i, 0);
    std::thread other(worker, 1);
    worker(0);
    other.join();
    return progress == 480 ? 0 : 1;
}
