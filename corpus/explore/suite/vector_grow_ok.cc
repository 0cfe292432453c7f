// expect: nothing
// A reader copies the element under the lock.
#include <mutex>
#include <thread>
#include <vector>

std::mutex mu;
std::vector<int> numbers{1};

static int first() {
    std::lock_guard<std::mutex> lock(mu);
    return numbers.front();
}

int main() {
    int seen = 0;
    std::thread reader([&] {
        seen = first();
    });
    std::thread writer([] {
        std::lock_guard<std::mutex> lock(mu);
        numbers.push_back(2);
    });
    reader.join();
    writer.join();
    return seen != 1;
}
