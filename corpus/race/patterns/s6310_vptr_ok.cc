// 6.3.10 done right: whoever deletes waits before the destructor begins. Writing the vptr again during construction
// and destruction is no race then, and neither are virtual calls from several threads.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <atomic>
#include <semaphore.h>
#include <thread>

struct A {
    virtual void F() { calls.fetch_add(1); }
    virtual ~A() {}
    std::atomic<int> calls{0};
};

struct B : A {
    void F() override { calls.fetch_add(2); }
    ~B() override {}
};

int main() {
    for (int i = 0; i < 50; i++) {
        A *obj = new B;
        sem_t done;
        sem_init(&done, 0, 0);
        auto use = [&] {
            for (int k = 0; k < 20; k++) obj->F();
            sem_post(&done);
        };
        std::thread a(use), b(use);
        std::thread c([&] {
            sem_wait(&done);
            sem_wait(&done);
            delete obj;
        });
        a.join();
        b.join();
        c.join();
        sem_destroy(&done);
    }
}
