// C++20: std::latch, std::barrier with a completion function, binary_semaphore, atomic wait and notify.
// They are atomics and futexes in libstdc++'s headers: arcs in every mode.
//@ flags: -O1 -std=c++20
// expect: nothing
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

constexpr int kThreads = 3, kPhases = 60;
long cells[kThreads], total, under_semaphore, prepared[kThreads], handed;
std::latch start(kThreads);
std::binary_semaphore mutex(1);
std::atomic<int> turn{0};

void complete() noexcept {
    total = 0;
    for (long c : cells) total += c;
}
std::barrier phase(kThreads, complete);

void work(int id) {
    prepared[id] = id;
    start.arrive_and_wait();
    for (int i = 0; i < kThreads; i++)
        if (prepared[i] != i) std::abort();
    for (int p = 1; p <= kPhases; p++) {
        cells[(id + p) % kThreads]++;
        phase.arrive_and_wait();
        if (total != p * kThreads) std::abort();
        phase.arrive_and_wait();
        mutex.acquire();
        under_semaphore++;
        mutex.release();
    }
    for (int p = id; p < kPhases; p += kThreads) { // by turns, through the atomic's value
        for (int now; (now = turn.load()) != p;) turn.wait(now);
        handed++;
        turn.store(p + 1);
        turn.notify_all();
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++) threads.emplace_back(work, i);
    for (auto &t : threads) t.join();
    return under_semaphore != kThreads * kPhases || handed != kPhases;
}
