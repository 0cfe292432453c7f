// expect: nothing
// The constructor of a global creates threads, and the program writes a file: each execution needs a
// process of its own, which begins before main, where the threads are there already.
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex mutex;
static int count;

static void add()
{
    std::lock_guard<std::mutex> guard(mutex);
    int before = count;
    count = before + 1;
}

struct Pool {
    std::thread first{add}, second{add};

    void end()
    {
        first.join();
        second.join();
    }
};

static Pool pool;

int main()
{
    pool.end();
    FILE *null = fopen("/dev/null", "w");
    fprintf(null, "%d\n", count);
    fclose(null);
    assert(count == 2);
}
