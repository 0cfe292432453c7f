// expect: nothing
//@ flags: -O1 -std=c++20
// std::latch, std::barrier with a completion, counting_semaphore.
#include <atomic>
#include <barrier>
#include <cassert>
#include <latch>
#include <semaphore>
#include <thread>

std::latch started(2);
int phases;
std::barrier meeting(2, []() noexcept { phases++; });
std::counting_semaphore<2> places(1);
std::atomic<int> inside;

static void work() {
    started.count_down();
    meeting.arrive_and_wait();
    places.acquire();
    assert(inside.fetch_add(1) == 0);
    inside.fetch_sub(1);
    places.release();
    meeting.arrive_and_wait();
}

int main() {
    std::thread a(work), b(work);
    started.wait();
    a.join();
    b.join();
    assert(phases == 2);
}
