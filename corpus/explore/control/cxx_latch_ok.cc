// expect: nothing
//@ flags: -O1 -std=c++20
// std::latch, std::barrier with a completion, counting_semaphore. Two threads that take from one semaphore would wait for ever with
// libstdc++ 12, whose acquire may sleep although there is one to take (GCC bug 104928): raddle finds that, so one thread takes.
#include <atomic>
#include <barrier>
#include <cassert>
#include <latch>
#include <semaphore>
#include <thread>

std::latch started(2);
int phases;
std::barrier meeting(2, []() noexcept { phases++; });
std::counting_semaphore<2> handed(0);
std::atomic<int> parcel;

static void work(bool gives) {
    started.count_down();
    meeting.arrive_and_wait();
    if (gives) {
        parcel.store(1);
        handed.release();
    } else {
        handed.acquire();
        assert(parcel.load() == 1);
    }
    meeting.arrive_and_wait();
}

int main() {
    std::thread a(work, true), b(work, false);
    started.wait();
    a.join();
    b.join();
    assert(phases == 2);
}
