// 6.3.2 done right: every use of the map is under one mutex, also the iteration.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

std::map<int, std::string> m;
std::mutex mu;

void work(int id) {
    for (int i = 0; i < 500; i++) {
        std::lock_guard<std::mutex> hold(mu);
        m[(i * 7 + id) % 64] = std::string(20, 'a' + id);
        if (i % 3 == 0) m.erase((i * 5) % 64);
        size_t length = 0;
        for (auto &entry : m) length += entry.second.size();
        if (length != m.size() * 20) std::abort();
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) threads.emplace_back(work, i);
    for (auto &t : threads) t.join();
}
