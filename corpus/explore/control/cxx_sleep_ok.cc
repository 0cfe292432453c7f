// expect: nothing
// std::this_thread::sleep_for and sleep_until, with clocks that move accordingly.
#include <cassert>
#include <chrono>
#include <thread>

int main() {
    using namespace std::chrono;
    std::thread sleeper([] {
        auto start = steady_clock::now();
        std::this_thread::sleep_for(milliseconds(10));
        assert(steady_clock::now() - start >= milliseconds(10));
        std::this_thread::sleep_until(start + milliseconds(20));
        assert(steady_clock::now() - start >= milliseconds(20));
    });
    sleeper.join();
}
