// 6.3.9 done right: the scope does not end before the other thread is joined.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <thread>

struct SomeType {
    volatile int state = 1;
    __attribute__((noinline)) ~SomeType() { state = -1; }
};

__attribute__((noinline)) void SomeCallback(SomeType *object) { object->state = 2; }

void Thread1() {
    SomeType object;
    std::thread callback_thread(SomeCallback, &object);
    callback_thread.join();
}

int main() {
    for (int i = 0; i < 100; i++) {
        std::thread a(Thread1), b(Thread1);
        a.join();
        b.join();
    }
}
