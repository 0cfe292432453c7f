// expect: nothing
// The twin of lost_hits_bad.cc: an atomic counter.
#include <atomic>
#include <cstdio>
#include <thread>

std::atomic<int> hits;

void handle() { hits++; }

int main() {
    std::thread a(handle), b(handle);
    a.join();
    b.join();
    std::printf("%d hits\n", hits.load());
    return 0;
}
