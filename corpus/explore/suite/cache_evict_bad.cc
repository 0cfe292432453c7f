// expect: assertion
//@ bound: 1
// A cache with a locked map: a user asks whether the key is there and then gets it, in two critical sections.
// Fails when: the user has heard that the key is there; the evictor erases it; at() throws, and nobody catches it.
#include <map>
#include <mutex>
#include <thread>

std::map<int, int> cache{{1, 10}};
std::mutex mu;

static bool has(int key) {
    std::lock_guard<std::mutex> lock(mu);
    return cache.count(key) != 0;
}

static int get(int key) {
    std::lock_guard<std::mutex> lock(mu);
    return cache.at(key);                               // expect: assertion here
}

int main() {
    int got = 0;
    std::thread user([&] { got = has(1) ? get(1) : 0; });
    std::thread evictor([] {
        std::lock_guard<std::mutex> lock(mu);
        cache.erase(1);
    });
    user.join();
    evictor.join();
    return got != 0 && got != 10;
}
