//@ pair 1: sort-read often
// A list of scores is sorted now and then while another thread reads its best entry.
#include <list>
#include <thread>
#include "work.h"

std::list<int> scores;

void sorter() {
    for (int i = 0; i < 180; i++) {
        work(6);
        scores.sort();    // expect: thread-safety-violation write #1
    }
}

int main() {
    for (int i = 0; i < 200; i++) scores.push_back(i);
    std::thread sorting(sorter);
    long sum = 0;
    for (int i = 0; i < 360; i++) {
        work(3);
        sum += scores.front();    // expect: thread-safety-violation read #1
    }
    sorting.join();
    return sum == 0 ? 0 : 1;
}
