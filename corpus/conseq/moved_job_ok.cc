// expect: nothing
// The twin of moved_job_bad.cc: each stage is done with a job when it moves it to the next one.
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Job {
    int number;
    std::string name;
};

class Queue {
    std::mutex lock;
    std::vector<std::unique_ptr<Job>> jobs;

public:
    Queue() { jobs.reserve(4); }
    void put(std::unique_ptr<Job> job) {
        std::lock_guard<std::mutex> guard(lock);
        jobs.push_back(std::move(job));
    }
    std::unique_ptr<Job> take() {
        std::lock_guard<std::mutex> guard(lock);
        if (jobs.empty()) return nullptr;
        std::unique_ptr<Job> job = std::move(jobs.back());
        jobs.pop_back();
        return job;
    }
};
Queue first, second;

void read() {
    for (int i = 1; i <= 2; i++) first.put(std::make_unique<Job>(Job{i, "job"}));
}

void work() {
    for (int i = 0; i < 2; i++)
        if (std::unique_ptr<Job> job = first.take()) {
            job->number *= 10;
            second.put(std::move(job));
        }
}

void write() {
    for (int i = 0; i < 2; i++)
        if (std::unique_ptr<Job> job = second.take()) job->name += std::to_string(job->number);
}

int main() {
    std::thread reader(read), worker(work), writer(write);
    reader.join();
    worker.join();
    writer.join();
}
