// expect: assertion
//@ bound: 1
// The destructor of a thread_local registers its result; main looks after a detached thread has said that it is done, which is
// before its destructors run.
// Fails when: the thread is preempted between raising the flag and its end.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> done, registered;

struct Result {
    int value = 0;
    ~Result() { registered += value; }
};
thread_local Result result;

int main() {
    std::thread([] {
        result.value = 1;
        done = 1;
    }).detach();
    while (!done) std::this_thread::yield();
    assert(registered == 1);                            // expect: assertion here
}
