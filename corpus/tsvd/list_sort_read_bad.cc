//@ pair 1: sort-read often
// A list of scores is sorted now and then while another thread reads its best entry.
#include <list>
#include <thread>
#include "work.h"

std::list<int> scores;

void sorter() {
    for (int i = 0; i < 45; i++) {
        work(22);
        scores.sort();    // expect: thread-safety-violation write #1
    }
}

int main() {
    for (int i = 0; i < 50; i++) scores.push_back(i);
    std::thread sorting(sorter);
    long sum = 0;
    for (int i = 0; i < 90; i++) {
        work(11);
        sum += scores.front();    // expect: thread-safety-violation read #1
    }
    sorting.join();
    return sum == 0 ? 0 : 1;
}
