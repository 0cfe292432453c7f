// expect: nothing
// A cache with a locked map: find and use in one critical section.
#include <map>
#include <mutex>
#include <thread>

std::map<int, int> cache{{1, 10}};
std::mutex mu;

static int get(int key) {
    std::lock_guard<std::mutex> lock(mu);
    auto found = cache.find(key);
    return found == cache.end() ? 0 : found->second;
}

int main() {
    int got = 0;
    std::thread user([&] { got = get(1); });
    std::thread evictor([] {
        std::lock_guard<std::mutex> lock(mu);
        cache.erase(1);
    });
    user.join();
    evictor.join();
    return got != 0 && got != 10;
}
