//@ pair 1: same-location often
// The device manager of the paper's Figure 10(a): each client's messages are handled by a task of their own, and every
// task stores the client's status in one table.
#include <thread>
#include <unordered_map>
#include <vector>
#include "work.h"

std::unordered_map<int, int> status;

void update(int client, int value) {
    status.insert_or_assign(client, value);    // expect: thread-safety-violation write write #1
}

void client(int id) {
    for (int i = 0; i < 200; i++) {
        work(2 + id % 2);
        update(id, i);
    }
}

int main() {
    status.reserve(64);
    for (int id = 0; id < 3; id++) status.emplace(id, -1);
    std::vector<std::thread> tasks;
    for (int id = 0; id < 3; id++) tasks.emplace_back(client, id);
    for (auto& task : tasks) task.join();
    return status.size() == 3 ? 0 : 1;
}
