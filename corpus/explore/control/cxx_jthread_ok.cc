// expect: nothing
//@ flags: -O1 -std=c++20
// std::jthread stopped through its token, with condition_variable_any waiting for the token.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

std::mutex mu;
std::condition_variable_any changed;
bool stopped;

int main() {
    {
        std::jthread worker([](std::stop_token token) {
            std::unique_lock<std::mutex> lock(mu);
            changed.wait(lock, token, [] { return false; });
            assert(token.stop_requested());
            stopped = true;
        });
    }
    assert(stopped);
}
