// main looks at the library's counter while the worker is still alive: a race with an end in the program and one in the library, in
// every mode. What the callback did is read after the join, and is fine.
#include "worker.h"
#include <chrono>
#include <thread>

long done;

static void callback(void *argument) {
    done = *static_cast<long *>(argument);
}

int main() {
    long seven = 7;
    Worker::completed = 0;
    long early;
    {
        Worker worker(callback, &seven);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        early = Worker::completed;                      // expect: data-race read #1
    }
    return done != 7 || early < 0;
}
