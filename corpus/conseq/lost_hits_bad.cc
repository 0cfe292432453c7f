// expect: output
// C++: two threads count hits without a lock, and one is lost.
#include <cstdio>
#include <thread>

int hits;

void handle() { hits++; }

int main() {
    std::thread a(handle), b(handle);
    a.join();
    b.join();
    std::printf("%d hits\n", hits);
    return 0;
}
