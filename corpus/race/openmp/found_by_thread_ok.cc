// Memory that belongs to a thread, in tasks that nothing orders: found by a thread-local pointer in a line that others had touched
// before, used before a child uses it too, found by a key, by the thread's id.
//@ flags: -O1 -fopenmp
// expect: nothing
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>

struct alignas(64) Line {
    long before, own[7];
};
static Line lines[4];
static std::atomic<int> next_line;
static thread_local long *in_line, *scratch;
static pthread_key_t key;
static std::mutex guard;
static std::map<std::thread::id, std::unique_ptr<long[]>> by_id;

static void count_in_line() {
    if (!in_line) in_line = &lines[next_line++].own[2];
    ++*in_line;
}

static void fill_scratch(int n, int value) {
    if (!scratch) scratch = (long *)malloc(64 * sizeof *scratch);
    long *own = scratch;
    scratch = own; // a write, which takes the place of what an earlier task left there
    for (int i = 0; i < n; i++) own[i] = value;
}

static void fill_by_key(int value) {
    long *own = (long *)pthread_getspecific(key);
    if (!own) pthread_setspecific(key, own = (long *)malloc(64 * sizeof *own));
    for (int i = 0; i < 64; i++) own[i] = value;
}

static void fill_by_id(int value) {
    guard.lock();
    auto &own = by_id[std::this_thread::get_id()];
    if (!own) own.reset(new long[64]());
    long *block = own.get();
    guard.unlock();
    for (int i = 0; i < 64; i++) block[i] = value;
}

int main() {
    pthread_key_create(&key, free);
#pragma omp parallel num_threads(4)
#pragma omp critical
    for (auto &line : lines) line.before++;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 40; i++) {
#pragma omp task
        count_in_line();
#pragma omp task firstprivate(i)
        {
            fill_scratch(64, i);
#pragma omp task
            fill_scratch(8, i);
#pragma omp taskwait
        }
#pragma omp task firstprivate(i)
        fill_by_key(i);
#pragma omp task firstprivate(i)
        fill_by_id(i);
    }
    long sum = 0;
    for (auto &line : lines) sum += line.own[2];
    return sum == 40 ? 0 : 1;
}
