//@ pair 1: parallel-loop often
// The network validation of the paper's Figure 10(b): a parallel loop over hosts, each result appended to one vector.
#include <thread>
#include <vector>
#include "work.h"

std::vector<int> levels;

int config_level(int host) {
    work(4 + host % 2);
    return host * 7 % 5;
}

void validate(int from, int to) {
    for (int host = from; host < to; host++) {
        int level = config_level(host);
        levels.push_back(level);    // expect: thread-safety-violation write write #1
    }
}

int main() {
    levels.reserve(1000);
    std::vector<std::thread> loop;
    for (int part = 0; part < 2; part++) loop.emplace_back(validate, part * 240, part * 240 + 240);
    for (auto& thread : loop) thread.join();
    return levels.size() > 100 ? 0 : 1;
}
