// expect: nothing
//@ flags: -O1 -std=c++17
// std::shared_mutex and shared_timed_mutex: readers together, a writer alone.
#include <cassert>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mu;
std::shared_timed_mutex timed;
int first, second, timed_reads;

int main() {
    std::thread writer([] {
        std::unique_lock lock(mu);
        first++;
        second++;
    });
    std::thread reader([] {
        std::shared_lock lock(mu);
        assert(first == second);
    });
    std::thread timed_reader([] {
        if (timed.try_lock_shared_for(std::chrono::seconds(5))) {
            timed_reads++;
            timed.unlock_shared();
        }
    });
    writer.join();
    reader.join();
    timed_reader.join();
    assert(first == 1 && timed_reads <= 1);
}
