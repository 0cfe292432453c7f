// expect: nothing
// Many readers or one writer.
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unordered_map>
#include "work.h"

std::shared_mutex lock;
std::unordered_map<int, int> rates;

void publisher() {
    for (int i = 0; i < 120; i++) {
        work(6);
        std::unique_lock<std::shared_mutex> guard(lock);
        rates[i % 8] = i;
    }
}

int reader() {
    int sum = 0;
    for (int i = 0; i < 160; i++) {
        work(4);
        std::shared_lock<std::shared_mutex> guard(lock);
        auto rate = rates.find(i % 8);
        if (rate != rates.end()) sum += rate->second;
    }
    return sum;
}

int main() {
    std::thread publishing(publisher), reading(reader);
    int sum = reader();
    publishing.join();
    reading.join();
    return sum >= 0 ? 0 : 1;
}
