// expect: deadlock
//@ bound: 0
// A std::condition_variable used as if it remembered a notification: no predicate.
// Fails when: the notifier runs before the waiter.
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mu;
std::condition_variable ready;

int main() {
    std::thread waiter([] {
        std::unique_lock<std::mutex> lock(mu);
        ready.wait(lock);                               // expect: deadlock here
    });
    std::thread notifier([] {
        std::lock_guard<std::mutex> lock(mu);
        ready.notify_one();
    });
    waiter.join();                                      // expect: deadlock here
    notifier.join();
}
