// expect: assertion
//@ bound: 0
// The constructor of a global creates a thread, and the program writes a file, so that each
// execution gets a process of its own. The worker unlocks the mutex between its two updates.
// Fails when: `main` comes between them.
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

struct Pool {
    std::mutex mutex;
    std::condition_variable done;
    int started = 0, ended = 0;
    std::thread worker{[this] { work(); }};

    void work()
    {
        std::unique_lock<std::mutex> lock(mutex);
        ++started;
        done.notify_one();
        lock.unlock();
        lock.lock();
        ++ended;
        assert(started == ended);
    }

    void end()
    {
        {
            std::unique_lock<std::mutex> lock(mutex);
            while (started == 0)
                done.wait(lock);
            int before = started;
            assert(before == ended);
        }
        worker.join();
    }
};

static Pool pool;

int main()
{
    FILE *null = fopen("/dev/null", "w");
    fprintf(null, "begins\n");
    fclose(null);
    pool.end();
}
