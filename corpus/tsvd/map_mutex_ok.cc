// expect: nothing
// One map, one lock, three threads that read and write.
#include <map>
#include <mutex>
#include <thread>
#include <vector>
#include "work.h"

std::mutex lock;
std::map<int, int> stock;

void clerk(int id) {
    for (int i = 0; i < 180; i++) {
        work(3);
        std::lock_guard<std::mutex> guard(lock);
        if (stock.count(i % 10)) stock[i % 10] += id;
    }
}

int main() {
    for (int i = 0; i < 10; i++) stock[i] = 0;
    std::vector<std::thread> clerks;
    for (int id = 0; id < 3; id++) clerks.emplace_back(clerk, id);
    for (auto& thread : clerks) thread.join();
    int sum = 0;
    for (auto& [item, count] : stock) sum += count;
    return sum == 180 * 3 ? 0 : 1;
}
