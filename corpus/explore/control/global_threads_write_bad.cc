// expect: assertion
// The constructor of a global creates threads, and the program writes a file: each execution needs a
// process of its own, which begins before main, where the threads are there already.
#include <cassert>
#include <cstdio>
#include <thread>

static int count;

static void add()
{
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
