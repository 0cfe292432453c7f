// 6.3.3 in C++: a volatile bool is still no synchronisation. Every mode reports the flag and the data behind it.
//@ flags: -O1 -std=c++17
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

volatile bool done;
long result;

int main() {
    done = false;
    result = 0;
    std::thread waiter([] {
        while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1)); // expect: data-race read #1
        if (result != 42) std::abort();                 // expect: data-race read #2
    });
    std::thread worker([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        result = 42;                                    // expect: data-race write #2
        done = true;                                    // expect: data-race write #1
    });
    waiter.join();
    worker.join();
}
