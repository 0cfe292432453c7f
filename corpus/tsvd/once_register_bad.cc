//@ pair 1: same-location once
// Two services register themselves when they start, once each, and then do their work.
#include <map>
#include <string>
#include <thread>
#include "work.h"

std::map<int, int> registry;

void service(int id) {
    work(20 + 25 * id);
    registry.insert_or_assign(id, id);    // expect: thread-safety-violation write write #1
    work(700);
}

int main() {
    for (int id = 0; id < 2; id++) registry.emplace(id, -1);
    std::thread one(service, 0), two(service, 1);
    one.join();
    two.join();
    return registry.size() == 2 ? 0 : 1;
}
