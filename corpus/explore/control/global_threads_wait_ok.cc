// expect: nothing
// The constructor of a global creates a thread, and the program writes a file, so that each
// execution gets a process of its own. `main` has the mutex again after it has waited.
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
