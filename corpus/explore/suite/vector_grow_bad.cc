// expect: use-after-free
//@ bound: 1
// A reader keeps the address of an element after it has given the lock back; push_back moves the vector.
// Fails when: the reader has the address; the writer grows the vector, whose old storage is freed; the reader reads.
#include <mutex>
#include <thread>
#include <vector>

std::mutex mu;
std::vector<int> numbers{1};

static const int &first() {
    std::lock_guard<std::mutex> lock(mu);
    return numbers.front();
}

int main() {
    int seen = 0;
    std::thread reader([&] {
        const int &number = first();
        seen = number;                                  // expect: use-after-free here
    });
    std::thread writer([] {
        std::lock_guard<std::mutex> lock(mu);
        numbers.push_back(2);
    });
    reader.join();
    writer.join();
    return seen != 1;
}
