// Mutexes that were never initialised by a call: PTHREAD_MUTEX_INITIALIZER, constexpr std::mutex, recursive and timed ones.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

std::mutex plain;
std::recursive_mutex recursive;
std::timed_mutex timed;
std::recursive_timed_mutex recursive_timed;
long count[4];

template <class M> void twice(M &mu, long &n) {
    std::lock_guard<M> outer(mu);
    std::lock_guard<M> inner(mu);
    n++;
}

void work() {
    for (int i = 0; i < 500; i++) {
        {
            std::unique_lock<std::mutex> hold(plain, std::defer_lock);
            if (!hold.try_lock()) hold.lock();
            count[0]++;
        }
        twice(recursive, count[1]);
        {
            std::unique_lock<std::timed_mutex> hold(timed, std::chrono::seconds(10));
            count[2]++;
        }
        twice(recursive_timed, count[3]);
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) threads.emplace_back(work);
    for (auto &t : threads) t.join();
    for (long n : count)
        if (n != 1500) return 1;
}
