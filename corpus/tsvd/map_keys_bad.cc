//@ pair 1: different-keys often
// A price table: the feed updates the prices of its own shares, the trader looks up others. "Different keys" does not help:
// operator[] may insert, and counts as a change of the whole map.
#include <map>
#include <string>
#include <thread>
#include "work.h"

std::map<std::string, int> prices;

void feed() {
    for (int i = 0; i < 280; i++) {
        work(3);
        prices["share" + std::to_string(i % 8)] = i;    // expect: thread-safety-violation write #1
    }
}

int trader() {
    int sum = 0;
    for (int i = 0; i < 280; i++) {
        work(3);
        auto found = prices.find("bond" + std::to_string(i % 8));    // expect: thread-safety-violation read #1
        sum += found->second;
    }
    return sum;
}

int main() {
    for (int i = 0; i < 8; i++) {
        prices["share" + std::to_string(i)] = i;
        prices["bond" + std::to_string(i)] = 100 + i;
    }
    std::thread feeder(feed);
    int sum = trader();
    feeder.join();
    return sum > 0 ? 0 : 1;
}
