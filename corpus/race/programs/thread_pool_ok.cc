// A thread pool: closures in a deque under a mutex, results in the submitter's own objects, completion by a counter under the
// same mutex. Tasks and results are handed over by the lock alone, the message queue of 6.4.2, so it carries the two
// annotations that hybrid and fast need; hb needs none. Silent in every mode.
//@ flags: -O1 -std=c++17
// expect: nothing
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
#include "raddle/annotations.h"

class Pool {
    using Task = std::unique_ptr<std::function<void()>>;

  public:
    explicit Pool(int n) {
        for (int i = 0; i < n; i++) threads_.emplace_back([this] { Run(); });
    }
    ~Pool() {
        {
            std::lock_guard<std::mutex> hold(mu_);
            closed_ = true;
            work_.notify_all();
        }
        for (auto &t : threads_) t.join();
    }
    void Submit(std::function<void()> f) {
        Task task = std::make_unique<std::function<void()>>(std::move(f));
        std::lock_guard<std::mutex> hold(mu_);
        ANNOTATE_HAPPENS_BEFORE(task.get());
        tasks_.push_back(std::move(task));
        pending_++;
        work_.notify_one();
    }
    void Wait() {
        std::unique_lock<std::mutex> hold(mu_);
        idle_.wait(hold, [this] { return pending_ == 0; });
        ANNOTATE_HAPPENS_AFTER(&pending_);
    }

  private:
    void Run() {
        std::unique_lock<std::mutex> hold(mu_);
        for (;;) {
            work_.wait(hold, [this] { return closed_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            Task task = std::move(tasks_.front());
            tasks_.pop_front();
            ANNOTATE_HAPPENS_AFTER(task.get());
            hold.unlock();
            (*task)();
            task.reset();
            hold.lock();
            ANNOTATE_HAPPENS_BEFORE(&pending_);
            if (--pending_ == 0) idle_.notify_all();
        }
    }
    std::mutex mu_;
    std::condition_variable work_, idle_;
    std::deque<Task> tasks_;
    std::vector<std::thread> threads_;
    long pending_ = 0;
    bool closed_ = false;
};

int main() {
    Pool pool(3);
    for (int round = 0; round < 20; round++) {
        std::vector<long> results(20);
        for (long i = 0; i < 20; i++) pool.Submit([&results, i] { results[i] = i * i; });
        pool.Wait();
        for (long i = 0; i < 20; i++)
            if (results[i] != i * i) return 1;
    }
}
