// 6.3.4, publishing an object without synchronisation: a thread spins until a plain pointer is no longer null. A race
// on the pointer, and on everything that the constructor wrote. Every mode reports both: main has touched the pointer;
// the object's own line is first touched by the publisher, so for the object fast is silent.
//@ flags: -O1 -std=c++17
#include <chrono>
#include <cstdlib>
#include <thread>

struct MyObj {
    alignas(64) int value;
    char rest_of_line[60];
    __attribute__((noinline)) MyObj() : value(42) {}    // expect(hb hybrid): data-race write #2
    __attribute__((noinline)) int DoSomething() { return value; } // expect(hb hybrid): data-race read #2
};

MyObj *obj;

int main() {
    obj = nullptr;
    std::thread user([] {
        while (obj == nullptr) std::this_thread::sleep_for(std::chrono::milliseconds(1)); // expect: data-race read #1
        if (obj->DoSomething() != 42) std::abort();     // expect: data-race read #1
    });
    std::thread publisher([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        MyObj *fresh = new MyObj();                     // expect(hb hybrid): data-race write #2 | allocate #2
        obj = fresh;                                    // expect: data-race write #1
    });
    user.join();
    publisher.join();
    delete obj;
}
