//@ pair 1: async-continuation often
//@ pair 2: async-continuation often
// The paper's Figure 3: a cache of square roots. Each root is computed by a task, and what follows the computation stores
// the result into the cache while other tasks look theirs up.
#include <cmath>
#include <future>
#include <unordered_map>
#include <vector>
#include "work.h"

std::unordered_map<int, double> cache;

double get_sqrt(int x) {
    if (cache.count(x) != 0 && x < 0) return 0;    // expect: thread-safety-violation read #1
    work(4 + x % 2);
    double root = std::sqrt(x);
    cache.insert_or_assign(x, root);    // expect: thread-safety-violation write #1 | write write #2
    return root;
}

int main() {
    cache.reserve(4096);
    for (int x = 0; x < 480; x++) cache.emplace(x, 0.0);
    double sum = 0;
    for (int x = 0; x < 480; x += 2) {
        auto a = std::async(std::launch::async, get_sqrt, x);
        auto b = std::async(std::launch::async, get_sqrt, x + 1);
        sum += a.get() + b.get();
    }
    return sum > 0 ? 0 : 1;
}
