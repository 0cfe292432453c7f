// expect: nothing
//@ flags: -O0
// The same with std::unique_lock and std::thread, built without optimisation: what a lap writes on the stack it writes again.
#include <mutex>
#include <thread>

std::mutex mu;
bool ready;

static bool is_ready() {
    std::unique_lock<std::mutex> lock(mu);
    return ready;
}

int main() {
    std::thread setter([] {
        std::lock_guard<std::mutex> lock(mu);
        ready = true;
    });
    while (!is_ready()) {
    }
    setter.join();
}
