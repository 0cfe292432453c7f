// expect: nothing
// In even phases one thread changes the table, in odd ones the other; a barrier separates them.
#include <pthread.h>
#include <map>
#include <thread>
#include "work.h"

pthread_barrier_t barrier;
std::map<int, int> table;

void player(int id) {
    for (int phase = 0; phase < 240; phase++) {
        work(3);
        if (phase % 2 == id) table[phase % 10] = id;
        pthread_barrier_wait(&barrier);
    }
}

int main() {
    pthread_barrier_init(&barrier, nullptr, 2);
    std::thread other(player, 1);
    player(0);
    other.join();
    return table.size() == 10 ? 0 : 1;
}
