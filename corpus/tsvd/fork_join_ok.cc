// expect: nothing
// Each thread fills a vector of its own; main merges them after each round, when all are joined.
#include <thread>
#include <vector>
#include "work.h"

int main() {
    std::vector<int> all;
    for (int round = 0; round < 12; round++) {
        std::vector<int> parts[2];
        std::vector<std::thread> threads;
        for (auto& part : parts)
            threads.emplace_back([&part] {
                for (int i = 0; i < 20; i++) {
                    work(4);
                    part.push_back(i);
                }
            });
        for (auto& thread : threads) thread.join();
        for (auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    }
    return all.size() == 480 ? 0 : 1;
}
