//@ pair 1: unlocked-read often
// A configuration is reloaded as a whole while requests read single values.
#include <string>
#include <thread>
#include <vector>
#include "work.h"

std::vector<int> config(16, 1);

void reload() {
    for (int i = 0; i < 140; i++) {
        work(6);
        config.assign(16, i + 1);    // expect: thread-safety-violation write #1
    }
}

int main() {
    std::thread reloading(reload);
    int sum = 0;
    for (int i = 0; i < 300; i++) {
        work(3);
        sum += config.at(i % 16);    // expect: thread-safety-violation read #1
    }
    reloading.join();
    return sum > 0 ? 0 : 1;
}
