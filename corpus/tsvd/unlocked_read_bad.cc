//@ pair 1: unlocked-read often
// Writes are locked, and the read that only looks whether there is anything is not.
#include <map>
#include <mutex>
#include <thread>
#include "work.h"

std::mutex lock;
std::map<int, long> sessions;

void server() {
    for (int i = 0; i < 240; i++) {
        work(4);
        std::lock_guard<std::mutex> guard(lock);
        sessions.insert_or_assign(i % 16, long(i));    // expect: thread-safety-violation write #1
    }
}

int main() {
    sessions.emplace(0, 0L);
    std::thread serving(server);
    unsigned long most = 0;
    for (int i = 0; i < 240; i++) {
        work(4);
        unsigned long n = sessions.size();    // expect: thread-safety-violation read #1
        if (n > most) most = n;
    }
    serving.join();
    return most >= 1 ? 0 : 1;
}
