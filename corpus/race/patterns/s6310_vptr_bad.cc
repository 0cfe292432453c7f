// 6.3.10, race on the vptr: the destructor of the base waits for Done(), but it has already set the vptr to A's table
// when it does. obj->F() in the other thread reads the vptr: A::F may be called instead of B::F. Every mode reports;
// the write has the line where the body of A::~A begins.
//@ flags: -O1 -std=c++17
#include <semaphore.h>
#include <thread>

class A {
  public:
    A() { sem_init(&sem_, 0, 0); }
    virtual void F() { calls = 1; }
    void Done() { sem_post(&sem_); }
    virtual ~A() {                                      // expect: data-race write #1
        sem_wait(&sem_);
        sem_destroy(&sem_);
    }

  protected:
    int calls = 0;

  private:
    sem_t sem_;
};

class B : public A {
  public:
    void F() override { calls = 2; }
    ~B() override {}
};

static A *volatile obj = new B;

int main() {
    std::thread a([] {
        obj->F();                                       // expect: data-race read #1
        obj->Done();
    });
    std::thread b([] { delete obj; });
    a.join();
    b.join();
}
