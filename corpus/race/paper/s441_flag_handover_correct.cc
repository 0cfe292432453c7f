// 4.4.1, the flag that starts out false: the object is handed over correctly. The paper: "in the hybrid mode,
// the tool will always report a data race on such code", in hb "if there is no race, the tool will be silent".
// Fast reports too: main built the object, so both threads' accesses are watched.
//@ flags: -O1 -std=c++17
// expect(hb): nothing
#include <mutex>
#include <thread>

struct Obj {
    int updates = 0;
    __attribute__((noinline)) void UpdateMe() { updates = updates + 1; } // expect(hybrid fast): data-race write write #1 | read write #1
};

std::mutex mu;
bool flag = false;

int main() {
    Obj obj;
    std::thread first([&] {
        obj.UpdateMe();
        std::lock_guard<std::mutex> hold(mu);
        flag = true;
    });
    std::thread second([&] {
        for (bool f = false; !f;) {
            std::this_thread::yield();
            std::lock_guard<std::mutex> hold(mu);
            f = flag;
        }
        obj.UpdateMe();
    });
    first.join();
    second.join();
    return obj.updates != 2;
}
