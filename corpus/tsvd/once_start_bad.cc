//@ pair 1: once once
//@ pair 2: once once
// At start one thread fills two tables, and another looks at them a moment too early.
#include <thread>
#include <unordered_map>
#include <set>
#include "work.h"

std::unordered_map<int, int> routes;
std::set<int> hosts;

void loader() {
    work(40);
    routes.emplace(1, 1);    // expect: thread-safety-violation write #1
    work(300);
    hosts.insert(7);    // expect: thread-safety-violation write #2
    work(400);
}

int main() {
    routes.reserve(64);
    std::thread loading(loader);
    work(80);
    unsigned long n = routes.count(2);    // expect: thread-safety-violation read #1
    work(300);
    n += hosts.count(8);    // expect: thread-safety-violation read #2
    work(350);
    loading.join();
    return n == 0 ? 0 : 1;
}
