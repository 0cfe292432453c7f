// expect: nothing
// Tasks return what they computed; only main touches the totals.
#include <future>
#include <map>
#include <vector>
#include "work.h"

std::vector<int> squares(int from) {
    std::vector<int> out;
    for (int i = 0; i < 3; i++) {
        work(2);
        out.push_back((from + i) * (from + i));
    }
    return out;
}

int main() {
    std::map<int, int> totals;
    for (int round = 0; round < 96; round++) {
        auto a = std::async(std::launch::async, squares, round);
        auto b = std::async(std::launch::async, squares, -round);
        for (auto* task : {&a, &b})
            for (int square : task->get()) totals[square % 10]++;
    }
    int sum = 0;
    for (auto& [digit, n] : totals) sum += n;
    return sum == 96 * 6 ? 0 : 1;
}
