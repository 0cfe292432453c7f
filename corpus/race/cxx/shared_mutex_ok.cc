// std::shared_mutex, shared_timed_mutex, and scoped_lock over two mutexes in either order (std::lock backs off, so that is no
// lock-order cycle). Silent in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

std::shared_mutex mu;
std::shared_timed_mutex timed;
std::mutex left, right;
std::map<int, long> table;
long pair[2], moved;

void work(int id) {
    for (int i = 0; i < 400; i++) {
        if (i % 8 == id) {
            std::unique_lock<std::shared_mutex> hold(mu);
            table[i % 20] = i;
        } else {
            std::shared_lock<std::shared_mutex> hold(mu);
            auto found = table.find(i % 20);
            if (found != table.end() && found->second > 400) std::abort();
        }
        if (i % 5 == 0) {
            if (timed.try_lock_for(std::chrono::seconds(10))) pair[0]++, pair[1]++, timed.unlock();
        } else {
            std::shared_lock<std::shared_timed_mutex> hold(timed, std::chrono::seconds(10));
            if (pair[0] != pair[1]) std::abort();
        }
        if (id % 2) {
            std::scoped_lock both(left, right);
            moved++;
        } else {
            std::scoped_lock both(right, left);
            moved--;
        }
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back(work, i);
    for (auto &t : threads) t.join();
    return moved != 0 || pair[0] != 320;
}
