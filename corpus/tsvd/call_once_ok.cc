// expect: nothing
// Whoever comes first fills the table, the others wait and read.
#include <map>
#include <mutex>
#include <thread>
#include <vector>
#include "work.h"

std::once_flag filled;
std::map<int, int> table;

int look_up(int key) {
    std::call_once(filled, [] {
        for (int i = 0; i < 50; i++) {
            work(2);
            table[i] = i * i;
        }
    });
    return table.at(key);
}

void worker(long* sum) {
    for (int i = 0; i < 200; i++) {
        work(4);
        *sum += look_up(i % 50);
    }
}

int main() {
    long one = 0, two = 0;
    std::thread other(worker, &one);
    worker(&two);
    other.join();
    return one == two ? 0 : 1;
}
