// expect: nothing
// Different elements of one vector may be changed at once: operator[] counts as const for sequences.
#include <thread>
#include <vector>
#include "work.h"

std::vector<long> cells(100);

void fill(int from) {
    for (int i = 0; i < 240; i++) {
        work(4);
        cells[from + i % 50] += i;
    }
}

int main() {
    std::thread other(fill, 50);
    fill(0);
    other.join();
    long sum = 0;
    for (long cell : cells) sum += cell;
    return sum == 2 * 28680 ? 0 : 1;
}
