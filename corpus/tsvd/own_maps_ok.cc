// expect: nothing
// Every thread has a table of its own; the same code runs on all of them at once.
#include <thread>
#include <unordered_map>
#include <vector>
#include "work.h"

void count(std::unordered_map<int, int>& table) {
    for (int i = 0; i < 260; i++) {
        work(3);
        table[i % 7]++;
    }
}

int main() {
    std::unordered_map<int, int> tables[2];
    std::vector<std::thread> threads;
    for (auto& table : tables) threads.emplace_back([&table] { count(table); });
    for (auto& thread : threads) thread.join();
    return tables[0].size() + tables[1].size() == 14 ? 0 : 1;
}
