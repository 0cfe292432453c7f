// C++20: std::jthread joins in its destructor; stop_token, stop_source and stop_callback; condition_variable_any with a token.
//@ flags: -O1 -std=c++20
// expect: nothing
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

int main() {
    for (int round = 0; round < 30; round++) {
        std::mutex mu;
        std::condition_variable_any cv;
        long count = 0, result[2] = {0, 0}, called = 0;
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < 2; i++)
                threads.emplace_back([&, i](std::stop_token stop) {
                    std::stop_callback on_stop(stop, [&] {
                        std::lock_guard<std::mutex> hold(mu);
                        called++;
                    });
                    std::unique_lock<std::mutex> hold(mu);
                    count++;
                    cv.wait(hold, stop, [] { return false; }); // until asked to stop
                    hold.unlock();
                    result[i] = 1; // plain, read after the destructor's join
                });
            {
                std::lock_guard<std::mutex> hold(mu);
                count += 10;
                cv.notify_all();
            }
        } // each thread is asked to stop and joined
        // A thread that has left its wait may withdraw its callback before it was called.
        if (result[0] + result[1] != 2 || called > 2) return 1;
    }
}
